# Every target sets up what it needs: Python 3.11 or newer, make and pip are enough. Where there is a C++ compiler, the
# core is compiled and tested, too; RETICULUM_EXPECT_NATIVE=1 makes tests fail where it is not.

PYTHON ?= python3
BIN := .venv/bin
OLDEST_BIN := .venv-oldest/bin
PURE_BIN := .venv-pure/bin
SANITIZED := build/sanitized
WORKERS ?= 2

NEWEST := --editable '.[test,plots,paper]'

# The oldest releases that are supported, as far as the running Python still has wheels for them.
# That scikit-learn passes generators to pytest, which warns of them from version 9 on.
OLDEST := --editable . hypothesis 'pandas<3' 'pytest<9' pytest-xdist \
	"polars==1.0.*; python_version < '3.13'" "polars; python_version >= '3.13'" \
	"pyarrow==15.*; python_version < '3.13'" "pyarrow; python_version >= '3.13'" \
	"scikit-learn==1.6.*; python_version < '3.14'" "scikit-learn==1.7.*; python_version >= '3.14'" \
	"scipy==1.11.*; python_version < '3.13'" "numpy==1.26.*; python_version < '3.13'"

# The package as it is without a compiler.
PURE := . hypothesis pandas pytest pytest-xdist

# What has to be compiled anew when it changes.
NATIVE := CMakeLists.txt $(wildcard src/native/*)

# The outer pip fills the environment, because ensurepip is not there on every machine.
define install
$(PYTHON) -m venv --clear --without-pip $(1)
$(PYTHON) -m pip --python $(1)/bin/python install --quiet $(2)
touch $(1)/installed
endef

.DELETE_ON_ERROR:
.PHONY: test test-newest test-oldest test-pure test-sanitized demo paper format clean

test: test-newest test-oldest test-pure test-sanitized

test-newest: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	SCIPY_ARRAY_API=1 $(BIN)/pytest -n $(WORKERS)

test-oldest: .venv-oldest/installed
	SCIPY_ARRAY_API=1 $(OLDEST_BIN)/python -m pytest -n $(WORKERS) tests/test_sklearn.py tests/test_native.py \
		tests/test_tables.py

# Without a compiler the package is installed as Python alone.
test-pure: .venv-pure/installed
	CXX=false $(PYTHON) -m pip --python $(PURE_BIN)/python install --quiet --no-deps --force-reinstall .
	RETICULUM_EXPECT_NATIVE=0 $(PURE_BIN)/python -m pytest -n $(WORKERS) tests/test_native.py tests/test_rows.py \
		tests/test_sklearn.py tests/test_estimator.py -k "test_native or (test_rows and not million) or test_the_cross_is_learned \
		or (test_sklearn and ReticulumClassifier and not Paper)"

# Reads and writes out of bounds, and all that C++ leaves undefined, end the tests. GCC's sanitizers have to be loaded
# before Python is; Python itself frees less than they ask for.
test-sanitized: .venv-pure/installed
ifneq ($(shell command -v g++)$(RETICULUM_EXPECT_NATIVE),)
	$(MAKE) $(SANITIZED)/installed
	cp -r src/bayesian_reticulum/*.py src/bayesian_reticulum/plots $(SANITIZED)/bayesian_reticulum
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(SANITIZED) RETICULUM_EXPECT_NATIVE=1 \
		$(PURE_BIN)/python -m pytest -n $(WORKERS) tests/test_native.py
else
	@echo "Skipped: there is no g++ to build the sanitized core with."
endif

demo: .venv/installed
	$(BIN)/python examples/demo.py

# Options go into ARGS, as in: make paper ARGS="--data DIR --trials 40 --seeds 10"
paper: .venv/installed
	$(BIN)/python benchmarks/paper $(ARGS)

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-oldest .venv-pure .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml $(NATIVE)
	$(call install,.venv,$(NEWEST))

.venv-oldest/installed: pyproject.toml Makefile $(NATIVE)
	$(call install,.venv-oldest,$(OLDEST))

.venv-pure/installed: export CXX := false
.venv-pure/installed: pyproject.toml Makefile
	$(call install,.venv-pure,$(PURE))

$(SANITIZED)/installed: export CXX := g++
$(SANITIZED)/installed: pyproject.toml Makefile $(NATIVE)
	rm -rf $(SANITIZED)
	$(PYTHON) -m pip --python $(PURE_BIN)/python install --quiet --no-deps --target $(SANITIZED) \
		--config-settings=cmake.define.RETICULUM_SANITIZE=ON .
	touch $@
