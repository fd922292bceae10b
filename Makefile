# make demo   set up, grade a small class through nbgrader, show its marks
# make test   set up, run everything CI runs
# make lab    set up, open JupyterLab on the course
# make fuzz   set up, read changed messages of strangers for ten minutes
# make pictures   set up, make the pictures in docs/ anew, in a real browser
# make bench  set up, time a class against stock nbgrader, write docs/benchmark.md (half an hour)

PYTHON ?= python3
# Without a graphics card, PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu" saves gigabytes.
PIP_FLAGS ?=
BIN := .venv/bin
# nbgrader calls `alembic` by name, so the environment must be on the path.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: install bench pictures fuzz demo test lab sync lint quick

install: .venv/installed
	@./.ci/bubblewrap

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "venv is missing; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(PIP_FLAGS) --constraint constraints.txt --editable '.[course]' --group dev
	@touch $@

demo: install
	@$(BIN)/autograder demo demo

lab: install
	$(BIN)/jupyter lab

# Two at a time: most tests wait for another process, and a file's tests share a course. In the order of conftest.py.
TOGETHER := -n 2 --dist loadfile --no-loadscope-reorder

test: install lint
	$(BIN)/python -m pytest $(TOGETHER)

# What a person runs all day.
quick: .venv/installed
	$(BIN)/python -m pytest -m "not slow" -x $(TOGETHER)

fuzz: .venv/installed
	$(BIN)/python -m tests.fuzz --minutes 10

bench: install
	$(BIN)/python -m tests.benchmark

pictures: install
	$(BIN)/python -m tests.pictures

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# After editing a notebook in source/: its text twin, and what students get.
sync: .venv/installed
	$(BIN)/autograder dev sync
