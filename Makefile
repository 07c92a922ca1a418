# Every command there is. `make reproduce` and `make test` are the two that a newcomer needs.
PYTHON ?= python3.11
BIN := .venv/bin
# The registered runs and the tests use one torch thread a process.
export OMP_NUM_THREADS ?= 1
QUICK := merging.representations

.PHONY: help reproduce test test-deep campaigns check claims table report bench lock clean

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

.venv/.peers: requirements-peers.lock .venv/.ready
	@echo "Adding the libraries that tests and benchmarks compare with (about 0.2 GB of downloads, 1 minute)"
	$(BIN)/python -m pip install --quiet --requirement requirements-peers.lock
	@touch $@

test: .venv/.peers  ## unit, laws, peers, plugin, study and repository tests on tiny models; then every claim (about 10 minutes)
	$(BIN)/python -m pytest tests -n 2 --dist loadfile
	$(BIN)/python -m pytest claims

test-deep: .venv/.peers  ## laws and unit tests on 300 new random examples each instead of 12 fixed ones (about 30 minutes)
	$(BIN)/python -m pytest tests/laws tests/unit tests/peers -n 2 --dist loadfile --hypothesis-profile deep

campaigns: .venv/.ready  ## 200 kills, 100 runs 50 at a time, 8 writers x 250 events, 45 edits, 20 parallel sessions ... (about 45 minutes)
	$(BIN)/python -m pytest tests/campaigns --kills 50 --sessions 20 --edits 50

check: .venv/.ready  ## format, lint, types, layers, budgets
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/repository -q

claims: .venv/.ready  ## every number that the texts print, against the registered runs; which claims could not fail; loose numbers
	$(BIN)/python -m pytest claims --claims-mutate
	$(BIN)/python -m assay claims text

table: .venv/.ready  ## rewrite docs/CLAIM_EVIDENCE.md from the claims
	$(BIN)/python -m pytest claims --claims-table docs/CLAIM_EVIDENCE.md

report: .venv/.ready  ## the page, LaTeX numbers and badge of the study, in build/report/
	$(BIN)/python -m assay report merging --out build/report

bench: .venv/.peers  ## print every figure of benchmarks/README.md
	$(BIN)/python benchmarks/all.py

lock: .venv/.ready  ## write requirements.lock from .venv as it is; once `make test` has added the peers: requirements-peers.lock
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | grep -v '^-e' > build.lock
	@if [ -e .venv/.peers ]; then { echo "# What the peers add to requirements.lock. Written by \`make lock\`."; grep -vxFf requirements.lock build.lock; } > requirements-peers.lock; \
	  else { echo "# Every pinned version of the tested environment: Python 3.11, CPU. Written by \`make lock\`."; cat build.lock; } > requirements.lock; fi
	@rm build.lock

clean:  ## remove the environment and caches (never runs, artifacts or downloads)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build
