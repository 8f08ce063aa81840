# Two commands for everybody: `make demo` and `make test`. Each makes and fills .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -q -n 2

.PHONY: demo test test-data lint examples wheel clean

demo: $(VENV)/demo-ready
	@$(BIN)/metricdp demo

test: $(VENV)/test-ready lint
	$(PYTEST) -m "not data"

test-data: $(VENV)/test-ready
	$(PYTEST) -m data tests/data

lint: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

examples: $(VENV)/test-ready
	for script in examples/*.py; do $(BIN)/python -W error "$$script" || exit 1; done

clean:
	rm -rf $(VENV) demo-output

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-ready: $(VENV)/bin/python pyproject.toml
	$(PIP) -e '.[plots]'
	@touch $@

$(VENV)/test-ready: $(VENV)/bin/python pyproject.toml
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/demo-ready
