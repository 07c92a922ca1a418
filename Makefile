# Every command there is. `make reproduce` and `make test` are the two that a newcomer needs.
PYTHON ?= python3.11
BIN := .venv/bin
# The registered runs and the tests use one torch thread a process.
export OMP_NUM_THREADS ?= 1
QUICK := merging.representations

.PHONY: help reproduce test peers campaigns check claims table bench lock clean

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Assay needs Python 3.11: '$(PYTHON)' is not on the path. Install it, or say: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "Setting up .venv from requirements.lock (about 0.4 GB of downloads, 3 minutes)"
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

reproduce: .venv/.ready  ## fetch models and text, rerun the quick configuration, compare it with the registered run, check every claim
	@$(BIN)/python -m experiments.reproduce

test: .venv/.ready  ## unit, laws, plugin, study and repository tests on tiny models (no downloads)
	$(BIN)/python -m pytest tests --ignore tests/peers -n 2 --dist loadfile

peers: .venv-peers/.ready  ## the same numbers as mergekit, ckatorch and rsatoolbox, in an environment of their own
	.venv-peers/bin/python -m pytest tests/peers

.venv-peers/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear .venv-peers
	.venv-peers/bin/python -m pip install --quiet --requirement requirements.lock ckatorch "mergekit==0.1.5" rsatoolbox
	.venv-peers/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

campaigns: .venv/.ready  ## kill a run 50 times and more such trials, in full length (about 15 minutes)
	$(BIN)/python -m pytest tests/campaigns --kills 50

check: .venv/.ready  ## format, lint, types, layers, budgets
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/repository -q

claims: .venv/.ready  ## every number that the texts print, against the registered runs
	$(BIN)/python -m pytest claims

table: .venv/.ready  ## rewrite docs/CLAIM_EVIDENCE.md from the claims
	$(BIN)/python -m pytest claims --claims-table docs/CLAIM_EVIDENCE.md

bench: .venv/.ready  ## print every figure of benchmarks/README.md
	$(BIN)/python benchmarks/all.py

lock: .venv/.ready  ## write requirements.lock from the environment as it is
	@{ echo "# Every pinned version of the tested environment: Python 3.11, CPU. Written by \`make lock\`."; \
	  $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | grep -v '^-e'; } > build.lock && mv build.lock requirements.lock

clean:  ## remove the environment and caches (never runs, artifacts or downloads)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build
