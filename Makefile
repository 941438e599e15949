PYTHON ?= python3.11
SEED ?= 0
PORT ?= 5000
BIN := .venv/bin
STAMP := .venv/.installed
# Spinning OpenMP threads are 20 times slower on a busy machine.
export OMP_WAIT_POLICY := passive
export OMP_NUM_THREADS ?= 1
# What is not kept compiled is compiled at each start: 2 of 8 seconds.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format ui clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## Make .venv with everything that is needed

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv || python3 -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $@

demo: setup  ## Check up the embedded classifier: all four questions on one page (SEED=n)
	$(BIN)/python -m app +experiment=checkup seed=$(SEED)

test: setup  ## Run all tests
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

lint: setup  ## Check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

ui: setup  ## Open MLflow's pages on the local store (PORT=n)
	$(BIN)/python -m app.pages --port $(PORT)

clean:  ## Remove caches and outputs; the store in mlruns/ stays
	rm -rf outputs multirun .mypy_cache .ruff_cache .pytest_cache .hypothesis
