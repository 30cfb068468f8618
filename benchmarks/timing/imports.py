"""The time that `import bayesian_reticulum` takes, with an estimator: the package alone imports its modules late."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from .results import Line

TIMED_IMPORT = (
    "import time; from sklearn.base import BaseEstimator; start = time.perf_counter(); "
    "from bayesian_reticulum import ReticulumClassifier; print(time.perf_counter() - start)"
)


def imports(repeats: int) -> Iterator[Line]:
    """What the import adds to that of scikit-learn, in fresh processes, from bytecode as where it is installed."""
    with tempfile.TemporaryDirectory() as directory:
        # An empty value switches it off, so that the first process leaves the bytecode for the others.
        environment = os.environ | {"PYTHONPYCACHEPREFIX": directory, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", TIMED_IMPORT]
        outputs = [subprocess.check_output(command, env=environment, text=True) for _ in range(2 + 3 * repeats)]
    seconds = np.array([float(output) for output in outputs[2:]])
    limit = (float(np.median(seconds)), 0.1, "s")
    yield Line("import bayesian_reticulum", "beyond sklearn.base", seconds, "s", None, limit)
