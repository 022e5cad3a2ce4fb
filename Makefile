# What you can do here. `make serve` and `make test` set up everything they need by themselves.

PYTHON ?= python3
VENV ?= .venv
TRAINER ?= .venv-trainer
PORT ?= 8080
JOBS ?= 2
HOST ?= 127.0.0.1

BIN := $(VENV)/bin
TBIN := $(TRAINER)/bin
GUEST := zygote watch program calls pair room wire values candidate tester leetcode answers mathematics libraries

.DEFAULT_GOAL := help
.PHONY: help serve test trainers train validate check format bench up down doctor lock clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

serve: $(VENV)/.service  ## serve the HTTP API until SIGTERM; PORT=8080, HOST=127.0.0.1
	exec $(BIN)/proctor serve --host $(HOST) --port $(PORT)

test: check  ## all checks, then all tests; JOBS=2, or 1 to see them one by one
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
	OMP_NUM_THREADS=1 $(TBIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder tests/trainer

trainers:  ## environments with other people's trainers, for tests/trainers; says what to set. Gigabytes
	@PYTHON=$(PYTHON) scripts/trainers.sh

train: $(VENV)/.service $(TRAINER)/.cpu  ## a tiny model learns from the service's rewards, in minutes and without a GPU
	$(TBIN)/python -m trainer.demo --proctor $(BIN)/proctor

validate: $(VENV)/.service  ## which problems deserve a reward: RECIPE=datasets/recipes/humaneval.toml, ARGS="--limit 40"
	@test -n "$(RECIPE)" || { echo 'say which: make validate RECIPE=datasets/recipes/NAME.toml; there are:'; ls datasets/recipes; exit 2; }
	$(BIN)/proctor validate $(RECIPE) $(ARGS)

check: $(VENV)/.dev $(TRAINER)/.cpu  ## style, types, and which way the dependencies point
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=sandbox_service/guest $(BIN)/mypy sandbox_service tests benchmarks --exclude '^tests/trainer/'
	MYPYPATH=sandbox_service/guest $(BIN)/mypy $(GUEST:%=sandbox_service/guest/%.py)
	$(BIN)/mypy --python-executable $(TBIN)/python trainer tests/trainer
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev  ## put the style right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## CPU per test against others, in one run; table and plot in build/bench
	$(BIN)/proctor bench --quick

up:  ## a fleet in containers, by docker or podman; see docs/deploy.md
	scripts/compose up --detach --build

down:  ## end it; what Redis keeps is kept
	scripts/compose down

doctor: $(VENV)/.service  ## what is missing or unsafe on this machine, and how to mend it
	$(BIN)/proctor doctor

lock: $(VENV)/.dev  ## take the newest versions of everything
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml locks/build.in --extra service --extra math --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate -o locks/service.txt
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml locks/build.in --extra service --extra math --extra dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate -c locks/service.txt -o locks/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade locks/trainer.in --excludes locks/trainer.excluded --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate -o locks/trainer.txt
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml locks/build.in --extra trainer --python-version 3.11 \
		--python-platform x86_64-manylinux_2_28 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate -o locks/gpu.txt

clean:  ## forget what was built
	rm -rf $(VENV) $(TRAINER) build dist *.egg-info sandbox_service/guest/*.so

# The environments. The package itself is installed in place, so that a change to the code needs no new one.

$(VENV)/.service: locks/service.txt pyproject.toml sandbox_service/guest/_box.c
	scripts/system-packages
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r locks/service.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: locks/dev.txt $(VENV)/.service
	scripts/system-packages --extra redis-server prometheus
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r locks/dev.txt
	touch $@

# torch first and by itself: where its CPU build comes from, and so its hash, differs. On a machine whose index has only
# builds with CUDA that is what is taken, unless PIP_INDEX_URL or PIP_FIND_LINKS says where the other one is.
$(TRAINER)/.cpu: locks/trainer.txt
	test -x $(TBIN)/pip || $(PYTHON) -m venv $(TRAINER)
	$(TBIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(TBIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --require-hashes -r locks/trainer.txt
	touch $@
