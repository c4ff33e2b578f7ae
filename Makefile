# Tasks of gslang. On a machine with only Python and make, each target sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test test-long check clean

help:  ## list the tasks
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/'

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## rewrite a real network (Inception-v3) and compare numbers
	@$(BIN)/python examples/demo.py

test: $(STAMP)  ## run the tests
	@$(BIN)/python -m pytest -q

test-long: $(STAMP)  ## the long tests too
	@$(BIN)/python -m pytest -q -m 'long or not long'

check: $(STAMP)  ## lint, types, tests
	@$(BIN)/ruff check gslang tests examples
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q

clean:  ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
