# Every target sets up what it needs: Python 3.11 or newer, make and pip are enough.

PYTHON ?= python3
BIN := .venv/bin
OLDEST_BIN := .venv-oldest/bin
WORKERS ?= 2

NEWEST := --editable '.[test,plots,paper]'

# The oldest releases that are supported, as far as the running Python still has wheels for them.
# That scikit-learn passes generators to pytest, which warns of them from version 9 on.
OLDEST := --editable . hypothesis 'pandas<3' 'pytest<9' pytest-xdist \
	"scikit-learn==1.6.*; python_version < '3.14'" "scikit-learn==1.7.*; python_version >= '3.14'" \
	"scipy==1.11.*; python_version < '3.13'" "numpy==1.26.*; python_version < '3.13'"

# The outer pip fills the environment, because ensurepip is not there on every machine.
define install
$(PYTHON) -m venv --clear --without-pip $(1)
$(PYTHON) -m pip --python $(1)/bin/python install --quiet $(2)
touch $(1)/installed
endef

.DELETE_ON_ERROR:
.PHONY: test test-newest test-oldest demo paper format clean

test: test-newest test-oldest

test-newest: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	SCIPY_ARRAY_API=1 $(BIN)/pytest -n $(WORKERS)

test-oldest: .venv-oldest/installed
	SCIPY_ARRAY_API=1 $(OLDEST_BIN)/python -m pytest -n $(WORKERS) tests/test_sklearn.py

demo: .venv/installed
	$(BIN)/python examples/demo.py

# Options go into ARGS, as in: make paper ARGS="--data DIR --trials 40 --seeds 10"
paper: .venv/installed
	$(BIN)/python benchmarks/paper $(ARGS)

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-oldest .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml
	$(call install,.venv,$(NEWEST))

.venv-oldest/installed: pyproject.toml Makefile
	$(call install,.venv-oldest,$(OLDEST))
