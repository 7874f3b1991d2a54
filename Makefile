# The few targets that people type. Each does its own set-up.
.DEFAULT_GOAL := help
.PHONY: help demo test test-agents test-lies faults check check-types check-rest docs figures bench bench-lies mutants format clean

BIN := .venv/bin
# Three workers for two cores: a test waits for programs that it started a third of its time.
JOBS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores + (cores + 1) / 2)))
# Each worker collects all tests: without bytecode from the last run it would compile all of them.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Tests with targets of their own; `.ci/run` runs all.
AGENTS := tests/real_agents

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## the main job end to end, on a sample project in a temporary folder
	@scripts/setup runtime
	@$(BIN)/python scripts/demo.py

test: ## all tests but those of the next three targets; what this machine lacks is skipped by name
	@scripts/setup dev
	@if command -v npm >/dev/null 2>&1; then scripts/agents; else echo "agents: no npm, so tests with openspec are skipped"; fi
	@mkdir -p .cache; begin=$$(date +%s); $(PYTEST) -m "not faults and not lies" --ignore=$(AGENTS) \
	  && echo $$(($$(date +%s) - begin)) > .cache/test-seconds
	@echo "not part of this: make test-agents (real agents), make test-lies (more false claims), make faults (kills and damage)"

test-agents: ## tests with the real agent programs, against a model on this machine
	@scripts/setup dev
	@scripts/agents
	@$(PYTEST) $(AGENTS)

test-lies: ## a sample of false claims of "done": each must be stopped, and its honest twin not
	@scripts/setup dev
	@if command -v npm >/dev/null 2>&1; then scripts/agents; else echo "agents: no npm, so mocha and vitest are skipped"; fi
	@$(PYTEST) -m lies tests/bench tests/walks

faults: ## kills, damage and full disks, at some of all writes; FAULTS_EVERY=1 takes all writes (half an hour)
	@scripts/setup dev
	@$(PYTEST) -m faults --timeout 3600 tests/walks

check: ## format, lint, types, import layers, docs
	@scripts/setup dev
	@$(MAKE) --no-print-directory --jobs 2 check-types check-rest

# Two halves of about the same length, side by side.
check-types:
	@$(BIN)/mypy

check-rest:
	@$(BIN)/ruff format --check --quiet . && echo "format: ok"
	@$(BIN)/ruff check --quiet . && echo "lint: ok"
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python scripts/docs.py --check
	@$(BIN)/python scripts/plain_english.py

docs: ## write the generated parts of docs/ again
	@scripts/setup dev
	@$(BIN)/python scripts/docs.py

figures: ## how much a reader must hold in mind, against its limits
	@scripts/setup dev
	@$(BIN)/python scripts/figures.py

bench: ## speed and memory, as ratios against baselines of the same run; writes bench/RESULTS.md
	@scripts/setup dev
	@$(BIN)/python bench/run.py

mutants: ## does a test notice each small change of the code? ONLY=kernel SAMPLE=147 limit it; writes bench/RESULTS.md
	@scripts/setup mutants
	@$(BIN)/python bench/mutants/score.py $(if $(FRESH),--fresh) $(if $(SAMPLE),--sample $(SAMPLE)) $(ONLY)

bench-lies: ## all false claims and their honest twins; writes docs/lies.md (half an hour; ONLY=pattern takes some)
	@scripts/setup dev
	@scripts/agents
	@$(BIN)/python bench/lies/score.py $(ONLY)

format: ## format the code
	@scripts/setup dev
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

clean: ## remove what make made
	rm -rf .venv .cache dist build
