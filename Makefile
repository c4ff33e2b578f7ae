# Tasks of gslang. On a machine with only Python and make, each target sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test test-long test-editors check rules clean bench bench-large bench-floor bench-thesis bench-hub bench-instructions

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
	@$(BIN)/python -m pytest -q -m 'not editors'

# What `make test` does without: Node.js, editors, shells. First of all it says which of them are missing.
test-editors: $(STAMP)  ## editors and shells with the shipped files (needs them installed)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,lsp,editors]'
	@$(BIN)/python -m tests.editors.programs
	@cd editors/vscode && npm ci --silent && npm test && npm run package
	@$(BIN)/python -m pytest -q -m editors tests/editors tests/highlight

check: $(STAMP)  ## lint, types, tests
	@$(BIN)/ruff check gslang tests examples
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q

# The other rewriters have an environment of their own, made when it is first needed.
BENCH := .venv-bench
BENCH_STAMP := $(BENCH)/.installed

$(BENCH_STAMP): benchmarks/requirements.txt pyproject.toml
	@echo "setting up $(BENCH) with the other tools (some GB, once) …"
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@echo '*' > $(BENCH)/.gitignore
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

bench: $(BENCH_STAMP)  ## gslang and nine other rewriters side by side (an hour or more)
	@$(BENCH)/bin/python -m benchmarks.bench

bench-large: $(BENCH_STAMP)  ## the same, up to a million nodes (hours)
	@$(BENCH)/bin/python -m benchmarks.bench --large

bench-floor: $(BENCH_STAMP)  ## PASS or FAIL for each promise about speed (minutes)
	@$(BENCH)/bin/python -m benchmarks.floor

bench-thesis: $(BENCH_STAMP)  ## time against nodes and rules, for 2, 3 and n outputs
	@$(BENCH)/bin/python -m benchmarks.thesis

bench-hub: $(BENCH_STAMP)  ## one tensor with up to 10,000 users
	@$(BENCH)/bin/python -m benchmarks.hub

bench-instructions: $(BENCH_STAMP)  ## instructions per node, free of noise (needs valgrind)
	@$(BENCH)/bin/python -m benchmarks.instructions

rules: $(STAMP)  ## write docs/rules.md: a verdict on every shipped rule
	@GSLANG_CACHE=off $(BIN)/gslc verify std.relay --format markdown > docs/.rules.md && mv docs/.rules.md docs/rules.md

clean:  ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
