# Tasks of gslang. On a machine with only Python and make, each target sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo docs test test-quick test-long test-editors test-browser check comparison grammar reliability rules taso verify-rules certificates clean bench bench-large bench-floor bench-thesis bench-hub bench-instructions onnx-table onnx-packages exports

help:  ## list the tasks
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/'

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(BIN)/python -m compileall -q gslang  # as pip does for packages that are not edited
	@touch $@

demo: $(STAMP)  ## rewrite a real network (Inception-v3) and compare numbers
	@$(BIN)/python examples/demo.py

test: $(STAMP)  ## run the tests
	@$(BIN)/python -m pytest -q -n auto --dist loadfile

test-quick: $(STAMP)  ## a tenth of the tests, under a minute: one of each kind
	@$(BIN)/python -m pytest -q -x -n auto --dist loadfile tests/test_architecture.py tests/test_constructs.py tests/test_api_errors.py tests/test_python_interface.py tests/syntax tests/graph tests/base tests/cli/test_small_verbs.py

test-long: $(STAMP)  ## the long tests too
	@$(BIN)/python -m pytest -q -m 'not editors and not browser'

# What `make test` does without: Node.js, editors, shells. First of all it says which of them are missing.
test-editors: $(STAMP)  ## editors and shells with the shipped files (needs them installed)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,lsp,editors]'
	@$(BIN)/python -m tests.editors.programs
	@cd editors/vscode && npm ci --silent && npm test && npm run package
	@$(BIN)/python -m pytest -q -m editors tests/editors tests/highlight

# Debian's Chromium, or the one that CHROMIUM names.
test-browser: $(STAMP)  ## the page of `gslc view` in headless Chromium (needs it installed)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,browser]'
	@$(BIN)/python -m pytest -q -m browser tests/view

docs: $(STAMP)  ## the documentation site, in build/site/index.html
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,docs]'
	@$(BIN)/python docs/site.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

check: $(STAMP)  ## lint, types, tests
	@$(BIN)/ruff check gslang tests examples benchmarks docs
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q -n auto --dist loadfile

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

comparison: $(BENCH_STAMP)  ## the five rules of docs/comparison.md in each tool
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(BENCH)/bin/python -m pytest -q tests/examples/test_comparison.py

bench-large: $(BENCH_STAMP)  ## the same, up to a million nodes (hours)
	@$(BENCH)/bin/python -m benchmarks.bench --large

bench-floor: $(BENCH_STAMP)  ## PASS or FAIL for each promise about speed (minutes)
	@$(BENCH)/bin/python -m benchmarks.floor; floor=$$?; $(BENCH)/bin/python -m benchmarks.onnx_floor && exit $$floor

bench-thesis: $(BENCH_STAMP)  ## time against nodes and rules, for 2, 3 and n outputs
	@$(BENCH)/bin/python -m benchmarks.thesis

bench-hub: $(BENCH_STAMP)  ## one tensor with up to 10,000 users
	@$(BENCH)/bin/python -m benchmarks.hub

bench-instructions: $(BENCH_STAMP)  ## instructions per node, free of noise (needs valgrind)
	@$(BENCH)/bin/python -m benchmarks.instructions

# A folder of models with inputs/ and make_inputs.py, and a table.tsv of what other tools leave, which `python -m benchmarks.export_tools` writes.
EXPORTS ?= ../shared/data/exports

onnx-table: $(BENCH_STAMP)  ## write docs/onnx-comparison.md: nodes left of exported models, fused operators, numbers, latency (EXPORTS=folder)
	@test -f $(EXPORTS)/table.tsv || $(BENCH)/bin/python -m benchmarks.export_tools $(EXPORTS)
	@$(BENCH)/bin/python -m benchmarks.exports $(EXPORTS) --out build/exports --page docs/onnx-comparison.md

onnx-packages: $(BENCH_STAMP)  ## the same of ONNX models that packages ship, at the end of that page
	@$(BENCH)/bin/python -m benchmarks.packages build/packages/models --out build/packages --page docs/onnx-comparison.md

# torch and transformers have an environment of their own, made when it is first needed.
TORCH := .venv-exports

$(TORCH)/.installed: examples/exports/requirements.txt
	@echo "setting up $(TORCH) with torch (some GB, once) …"
	@test -x $(TORCH)/bin/python || $(PYTHON) -m venv $(TORCH)
	@echo '*' > $(TORCH)/.gitignore
	@$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check -r examples/exports/requirements.txt
	@touch $@

exports: $(STAMP) $(TORCH)/.installed  ## export small networks from torch, and print what the pass for onnxruntime leaves of them (ONLY="t5 swin")
	@$(TORCH)/bin/python examples/exports/export.py build/networks $(if $(ONLY),--only $(ONLY))
	@$(BIN)/python -m benchmarks.exports build/networks --out build/rewritten $(if $(ONLY),--only $(ONLY))

grammar: $(STAMP)  ## write grammar/gsl.json, the parser's tables, after a change of grammar/gsl.lark
	@$(BIN)/python -m gslang.syntax.grammar

reliability: $(STAMP)  ## run every verb on every hostile file and a million mutated ones, and print the tables of docs/reliability.md
	@mkdir -p .cache && rm -f .cache/hostile.jsonl
	@$(BIN)/python -m tests.hostile.runs .cache/hostile.jsonl
	@$(BIN)/python -m tests.hostile.fuzz 1000000 2

MODULES := relay onnx onnxruntime discovered

# Two modules at a time, so that no processor waits while one is being read: the longest first.
rules: $(STAMP)  ## write docs/rules.md: a verdict on every shipped rule (minutes)
	@rm -rf build/verdicts && mkdir -p build/verdicts
	@$(MAKE) --no-print-directory -j2 $(patsubst %,build/verdicts/%.md,onnxruntime onnx relay discovered)
	@{ echo '# The shipped rules'; echo; echo 'Generated by `make rules`. [verify.md](verify.md) explains the verdicts.'; \
	  for module in $(MODULES); do printf '\n## std.%s\n\n' $$module; cat build/verdicts/$$module.md; done; } > docs/rules.md

build/verdicts/%.md:
	@GSLANG_CACHE=off $(BIN)/gslc verify std.$* --format markdown --require tested --seconds 600 --jobs 2 > $@.part
	@mv $@.part $@

taso: $(STAMP)  ## write docs/taso.md: verdicts on TASO's substitutions (TASO=graph_subst.json)
	@$(BIN)/python docs/taso_page.py $(TASO)

certificates: $(STAMP)  ## write a certificate for each shipped rule that is proved, and check them all (many minutes)
	@rm -rf build/certificates
	@for module in $(addprefix std.,$(MODULES)); do \
	    GSLANG_CACHE=off $(BIN)/gslc verify $$module --certificate build/certificates/$$module --seconds 600 --jobs 2 || exit 1; \
	    $(BIN)/gslc verify $$module --recheck build/certificates/$$module || exit 1; \
	  done

verify-rules: $(STAMP)  ## fail if a shipped rule is refuted or unknown
	@for module in $(MODULES); do $(BIN)/gslc verify std.$$module --require tested --jobs 2 || exit 1; done

clean:  ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
