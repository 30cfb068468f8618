"""Settings that every test shares."""

import os

# Tests run side by side: one thread each, said before NumPy loads its libraries.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from hypothesis import settings

# Speed depends on the machine, so that a deadline would only report a busy one.
settings.register_profile("local", deadline=None)
settings.register_profile("deterministic", deadline=None, derandomize=True, database=None)
settings.register_profile("thorough", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("deterministic" if os.environ.get("CI") else "local"))
