# Every target sets up what it needs: Python 3.11 or newer, make and pip are enough. Where there is a C++ compiler, the
# core is compiled and tested, too; RETICULUM_EXPECT_NATIVE=1 makes tests fail where it is not.

PYTHON ?= python3
WORKERS ?= 2
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
NEWEST := .venv/$(BIN)
OLDEST := .venv-oldest/$(BIN)
PURE := .venv-pure/$(BIN)
SANITIZED := build/sanitized

# The oldest releases that are supported, as far as the running Python still has wheels for them.
# That scikit-learn passes generators to pytest, which warns of them from version 9 on.
OLDEST_PACKAGES := hypothesis 'pandas<3' 'pytest<9' pytest-xdist \
	"polars==1.0.*; python_version < '3.13'" "polars; python_version >= '3.13'" \
	"pyarrow==15.*; python_version < '3.13'" "pyarrow; python_version >= '3.13'" \
	"scikit-learn==1.6.*; python_version < '3.14'" "scikit-learn==1.7.*; python_version >= '3.14'" \
	"scipy==1.11.*; python_version < '3.13'" "numpy==1.26.*; python_version < '3.13'" \
	"matplotlib==3.8.*; python_version < '3.13'" "matplotlib; python_version >= '3.13'"

# To compile the core in an environment itself, which keeps object files, instead of in one that pip makes for it.
BUILD_PACKAGES := 'nanobind>=2.4' 'scikit-build-core>=0.11' cmake ninja

# An installed core is compiled anew when these change.
CPP := $(wildcard src/native/*.?pp src/native/*/*.?pp)
NATIVE := CMakeLists.txt $(CPP)

# An editable package remembers which modules there were, and where.
MODULES := $(sort $(wildcard $(addprefix src/bayesian_reticulum,/*.py /*/*.py /*/*/*.py)))

# The outer pip fills an environment, because ensurepip is not there on every machine.
PIP = $(PYTHON) -m pip --python $(@D)/$(BIN)/python install --quiet
MAKE_ENVIRONMENT = $(PYTHON) -m venv --clear --without-pip $(@D)

.DELETE_ON_ERROR:
.PHONY: test test-slow test-newest test-docs test-pure test-oldest test-sanitized test-thorough \
	lint lint-style lint-types lint-layers lint-spelling lint-cpp format demo paper clean FORCE

# At most 15 minutes on two cores.
test: lint test-newest test-pure

# At most 40 minutes on two cores.
test-slow: test-oldest test-sanitized test-thorough

lint: lint-style lint-types lint-layers lint-spelling lint-cpp

lint-style: .venv/installed
	$(NEWEST)/ruff check .
	$(NEWEST)/ruff format --check .

lint-types: .venv/installed
	$(NEWEST)/mypy

lint-layers: .venv/installed
	$(NEWEST)/lint-imports

lint-spelling: .venv/installed
	$(NEWEST)/codespell

lint-cpp: .venv/installed
	$(NEWEST)/clang-format --dry-run -Werror $(CPP)

format: .venv/installed
	$(NEWEST)/ruff check --fix .
	$(NEWEST)/ruff format .
	$(NEWEST)/clang-format -i $(CPP)

test-newest: .venv/installed
	SCIPY_ARRAY_API=1 $(NEWEST)/python -m pytest -n $(WORKERS)

# The pages alone: their code runs, and prints what they show.
test-docs: .venv/installed
	$(NEWEST)/python -m pytest -n $(WORKERS) tests/docs

# Properties alone, with four times as many examples as usual.
test-thorough: .venv/installed
	HYPOTHESIS_PROFILE=thorough $(NEWEST)/python -m pytest -n $(WORKERS) -m hypothesis tests/unit tests/laws

# On the oldest versions of other libraries: what meets these, tables and scikit-learn's conventions above all.
test-oldest: .venv-oldest/installed
	SCIPY_ARRAY_API=1 $(OLDEST)/python -m pytest -n $(WORKERS) tests/unit/data tests/unit/estimators tests/unit/test_compiled.py \
		tests/unit/rows/test_native.py tests/laws/test_sklearn.py tests/laws/test_frames.py tests/laws/test_odd_tables.py \
		tests/laws/test_refused_tables.py

# Without a compiler the package is installed as Python alone.
test-pure: .venv-pure/installed
	CXX=false $(PYTHON) -m pip --python $(PURE)/python install --quiet --no-deps --force-reinstall .
	RETICULUM_EXPECT_NATIVE=0 $(PURE)/python -m pytest -n $(WORKERS) tests/unit/test_compiled.py tests/unit/test_gates.py \
		tests/unit/rows tests/unit/evidence tests/unit/estimators tests/laws/test_rows.py tests/laws/test_rows_views.py

# Reads and writes out of bounds, and all that C++ leaves undefined, end the tests. GCC's sanitizers have to be loaded
# before Python is; Python itself frees less than they ask for.
test-sanitized: .venv-pure/installed
ifneq ($(shell command -v g++)$(RETICULUM_EXPECT_NATIVE),)
	$(MAKE) $(SANITIZED)/installed
	find $(SANITIZED)/bayesian_reticulum -name '*.py' -delete
	tar -c -C src --exclude '*.so' bayesian_reticulum | tar -x -C $(SANITIZED)
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(SANITIZED) RETICULUM_EXPECT_NATIVE=1 \
		$(PURE)/python -m pytest -n $(WORKERS) tests/unit/test_compiled.py tests/unit/rows/test_native.py \
		tests/unit/evidence/test_ascent.py tests/unit/evidence/test_engine.py \
		tests/laws/test_compiled_leaves.py tests/laws/test_rows_of_numbers.py
else
	@echo "Skipped: there is no g++ to build the sanitized core with."
endif

demo: .venv/installed
	$(NEWEST)/python examples/demo.py

# Options go into ARGS, as in: make paper ARGS="--data DIR --trials 40 --seeds 10"
paper: .venv/installed
	$(NEWEST)/python benchmarks/paper $(ARGS)

clean:
	rm -rf .venv .venv-oldest .venv-pure .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Written anew only when a module was added, moved or removed.
build/modules: FORCE
	@mkdir -p build
	@echo '$(MODULES)' | cmp -s - $@ || echo '$(MODULES)' > $@

# First everything but the core, then the core alone, so that a change of C++ compiles the changed files only.
.venv/packages: export CXX := false
.venv/packages: pyproject.toml
	$(MAKE_ENVIRONMENT)
	$(PIP) --editable '.[test,plots,paper]' $(BUILD_PACKAGES)
	rm -rf build/editable
	touch $@

.venv/installed: .venv/packages build/modules $(NATIVE)
	$(PIP) --no-deps --no-build-isolation --config-settings=build-dir=build/editable --editable .
	touch $@

.venv-oldest/installed: pyproject.toml Makefile build/modules $(NATIVE)
	$(MAKE_ENVIRONMENT)
	$(PIP) --editable . $(OLDEST_PACKAGES)
	touch $@

.venv-pure/installed: export CXX := false
.venv-pure/installed: pyproject.toml Makefile
	$(MAKE_ENVIRONMENT)
	$(PIP) . hypothesis matplotlib pandas polars pyarrow pytest pytest-xdist
	touch $@

# The core with sanitizers; the Python around it is copied before each run.
$(SANITIZED)/installed: export CXX := g++
$(SANITIZED)/installed: pyproject.toml Makefile $(NATIVE)
	rm -rf $(SANITIZED)
	$(PYTHON) -m pip --python $(PURE)/python install --quiet --no-deps --target $(SANITIZED) \
		--config-settings=cmake.define.RETICULUM_SANITIZE=ON .
	touch $@
