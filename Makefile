# A fresh machine needs Python 3.11+, Java 17+ and make; everything else is set up in .venv.
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.set-up
ARGS  ?=
WORKERS ?= 2

# Tests and the demo start many short-lived JVMs.
export SAMEWISE_FAST_JVM := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench clean

help: ## What there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 10

setup: $(STAMP) ## Install everything into .venv and fetch the jars, once

$(STAMP): pyproject.toml constraints.txt scripts/setup
	@scripts/setup $(VENV)
	@touch $@

demo: setup ## Load seven days of orders, kill two runs, show that nothing is lost or doubled
	@$(BIN)/python demo/demo.py

test: setup ## Run the tests (ARGS="-k words" chooses, WORKERS=0 keeps to one process)
	@scripts/ensure-postgres
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: setup ## Lint, format, types, layers: changes nothing
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## Put the code into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# Figures of a JVM that is held back would be no figures.
bench: export SAMEWISE_FAST_JVM := 0
bench: setup ## Measure, and write docs/benchmarks.md
	@$(BIN)/python -m benchmarks $(ARGS)

clean: ## Remove .venv and all caches; the jars stay
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache spark-warehouse
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
