# `make help` lists what can be done here. Every target sets up what it needs.

PYTHON ?= python3
VENV ?= .venv
TRAINER ?= .venv-trainer
PORT ?= 8080
JOBS ?= 3
# beside Python, such as "cpp java"; docs/languages.md lists them
LANGUAGES ?=
WAITING_JOBS ?= 6
HOST ?= 127.0.0.1

# the tests start Python hundreds of times: without its cache of bytecode each start compiles what it imports
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
TBIN := $(TRAINER)/bin
GUEST := zygote watchdog program calls results ending two_boxes rootfs stacks wire identifiers codec channel shared_classes \
	encoder decoder error_codec operations prelude candidate dispatcher candidate_codec tester tester_codec connection candidate_replies text_uses lent_values live_globals callbacks \
	explanations plain_programs descriptor_uses computed_names steady_reads shared remote_handle handle_state handle_operators proxy_classes name_table name_uses name_resolution library_names \
	framework_tests fixtures type_name leetcode latex_answers latex_grammar latex_spelling answer_words answer_lists fixed_points mathematics libraries judge
PYTEST := -m pytest --dist loadfile --no-loadscope-reorder
# what starts none of: a jail, Redis, a browser, vLLM. See docs/testing.md
FAST := not jail and not redis and not browser and not vllm and not slow and not full

.DEFAULT_GOAL := help
.PHONY: help serve quick test test-all test-quick test-service test-computing test-waiting test-trainer trainers train validate strengthen check check-service check-trainer format bench up down \
	doctor lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

serve: $(VENV)/.service  ## serve the HTTP API until SIGTERM; PORT=8080, HOST=127.0.0.1, LANGUAGES="cpp java"
	@test -z "$(LANGUAGES)" || scripts/system-packages --languages "$(LANGUAGES)"
	exec $(BIN)/proctor serve --host $(HOST) --port $(PORT)

quick: $(VENV)/.dev $(TRAINER)/.cpu  ## checks, and the tests that need no jail, Redis, browser or model: under 2 minutes
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=line check test-quick

# All parts at a time: while one waits, another computes. Each begins when its environment is there
TESTS := test-trainer test-computing test-waiting check

test:  ## checks, then all tests but repetitions; JOBS=3, WAITING_JOBS=6
	@$(MAKE) --no-print-directory --jobs 5 --output-sync=line $(TESTS)

test-all:  ## the same with all repetitions; before a release
	@$(MAKE) --no-print-directory --jobs 5 --output-sync=line REPETITIONS=1 $(TESTS)

SELECTED = $(if $(REPETITIONS),,-m "not full")

test-quick: $(VENV)/.dev $(TRAINER)/.cpu  ## the tests of `make quick` alone
	$(BIN)/python $(PYTEST) -n $(JOBS) -q -m "$(FAST)"
	OMP_NUM_THREADS=1 $(TBIN)/python $(PYTEST) -n $(JOBS) -q -m "$(FAST)" tests/trainer

test-service: test-computing test-waiting  ## the tests of the service

# Tests that mostly wait run many at a time, tests that compute one more than two processors. All yield to the trainer's
# environment and tests, which run in one process
test-computing: $(VENV)/.dev
	$(if $(REPETITIONS),PROCTOR_MIXED=125) nice -n 10 scripts/run-tests computing $(BIN)/python $(PYTEST) -n $(JOBS) $(SELECTED) --group computing

test-waiting: $(VENV)/.dev
	$(if $(REPETITIONS),FLEET_SUBMISSIONS=200 PROCTOR_FAULTS=200) nice -n 10 scripts/run-tests waiting $(BIN)/python $(PYTEST) -n $(WAITING_JOBS) $(SELECTED) \
		--group waiting

# in one process: its tests share one vLLM
test-trainer: $(VENV)/.service $(TRAINER)/.cpu  ## the tests of the trainer
	OMP_NUM_THREADS=1 scripts/run-tests trainer $(TBIN)/python $(PYTEST) -n 0 $(SELECTED) tests/trainer

trainers:  ## make environments with other trainers for tests/adapters, and print what to set; takes gigabytes
	@PYTHON=$(PYTHON) scripts/trainers.sh

train: $(VENV)/.service $(TRAINER)/.cpu  ## train a tiny model on the service's rewards, in minutes and without a GPU; ARGS="--seed 1"
	OMP_NUM_THREADS=1 $(TBIN)/python -m examples.arithmetic --proctor $(BIN)/proctor $(ARGS)

validate: $(VENV)/.service  ## find the problems that deserve a reward: RECIPE=datasets/recipes/humaneval.toml, ARGS="--limit 40"
	@test -n "$(RECIPE)" || { echo 'name a recipe: make validate RECIPE=datasets/recipes/NAME.toml; there are:'; ls datasets/recipes; exit 2; }
	$(BIN)/proctor validate $(RECIPE) $(ARGS)

strengthen: $(VENV)/.service  ## add tests that wrong programs fail: RECIPE=my.toml, ARGS="--limit 40"
	@test -n "$(RECIPE)" || { echo 'name a recipe: make strengthen RECIPE=datasets/recipes/NAME.toml; there are:'; ls datasets/recipes; exit 2; }
	$(BIN)/proctor strengthen $(RECIPE) $(ARGS)

check: check-service check-trainer  ## check style, types and the direction of imports

# Each call of mypy has a cache of its own: they see different environments, and would spoil each other's
check-service: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=sandbox_service/guest $(BIN)/mypy sandbox_service tests benchmarks --exclude '^tests/trainer/'
	MYPYPATH=sandbox_service/guest $(BIN)/mypy --cache-dir .mypy_cache/guest $(GUEST:%=sandbox_service/guest/%.py)
	$(BIN)/lint-imports --no-logo

check-trainer: $(VENV)/.dev $(TRAINER)/.cpu
	$(BIN)/mypy --cache-dir .mypy_cache/trainer --python-executable $(TBIN)/python trainer examples tests/trainer

format: $(VENV)/.dev  ## format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## measure CPU per test beside other graders; table and plot in build/bench
	$(BIN)/proctor bench --quick

up:  ## start a fleet in containers, by docker or podman; see docs/deploy.md
	scripts/compose up --detach --build

down:  ## stop the fleet; Redis's data stays
	scripts/compose down

doctor: $(VENV)/.service  ## say what is missing or unsafe on this machine, and how to mend it
	$(BIN)/proctor doctor

lock: $(VENV)/.dev  ## lock the newest versions of all dependencies
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

clean:  ## remove what was built
	rm -rf $(VENV) $(TRAINER) build dist *.egg-info sandbox_service/*/*.so sandbox_service/guest/*.elf sandbox_service/guest/*.o

# The environments. The package itself is installed in place, so that a change to the code needs no new one. It is built
# once for both: a second build would replace the extension modules that running tests load.

EDITABLE := $(VENV)/editable

$(VENV)/.system: scripts/system-packages
	scripts/system-packages
	mkdir -p $(VENV)
	touch $@

$(VENV)/.built: locks/service.txt pyproject.toml setup.py $(wildcard sandbox_service/*/*.[chS]) | $(VENV)/.system
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r locks/service.txt
	rm -rf $(EDITABLE) && mkdir $(EDITABLE)
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_editable('$(EDITABLE)')" >$(EDITABLE)/log 2>&1 \
		|| { cat $(EDITABLE)/log; exit 1; }
	touch $@

$(VENV)/.service: $(VENV)/.built
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(EDITABLE)/*.whl
	touch $@

$(VENV)/.dev: locks/dev.txt $(VENV)/.service
	scripts/system-packages --languages "cpp lua" --extra redis-server prometheus bubblewrap apparmor
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r locks/dev.txt
	touch $@

# torch first and by itself: where its CPU build comes from, and so its hash, differs. On a machine whose index has only
# builds with CUDA that is what is taken, unless PIP_INDEX_URL or PIP_FIND_LINKS says where the other one is.
# Most of its modules are never imported; Python compiles the others when they are first imported.
# None of them needs the package itself, so that both environments are installed at the same time.
$(TRAINER)/.libraries: locks/trainer.txt | $(VENV)/.system
	test -x $(TBIN)/pip || $(PYTHON) -m venv $(TRAINER)
	$(TBIN)/pip install --quiet --disable-pip-version-check --no-compile torch==2.13.0
	$(TBIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --require-hashes -r locks/trainer.txt
	touch $@

$(TRAINER)/.cpu: $(TRAINER)/.libraries pyproject.toml | $(VENV)/.service
	$(TBIN)/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(EDITABLE)/*.whl
	touch $@
