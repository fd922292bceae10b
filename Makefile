# make demo   set up, grade a small class through nbgrader, show its marks
# make test   set up, run everything CI runs
# make catalogue   ask of every known mistake and wrong answer what the tests ask of a selection (a quarter of an hour)
# make lab    set up, open JupyterLab on the course
# make fuzz   set up, read changed messages of strangers for ten minutes
# make floors     set up, run the quick tests with the lowest versions that pyproject.toml promises
# make coverage   run all tests once more, and say which lines of the engine they reach
# make dist   set up, build what is published: wheel, sdist, notebooks that get the kit, a list of what is in them
# make docs   set up, build the pages with search into site/
# make faults set up, disturb two hundred runs at random, write docs/reliability.md (half an hour)
# make pictures   set up, make the pictures in docs/ anew, in a real browser
# make bench  set up, time a class against stock nbgrader, write docs/benchmark.md (half an hour)

PYTHON ?= python3
# Without a graphics card, PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu" saves gigabytes.
PIP_FLAGS ?=
BIN := .venv/bin
# Programs call one another by name: JupyterLab its kernel, tests `nbgrader`.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: install bench dist faults floors coverage docs pictures fuzz demo test catalogue lab sync lint quick

# BUBBLEWRAP=no leaves the system's packages alone.
install: .venv/installed
	@./.ci/bubblewrap
	@echo "$(BIN)/autograder doctor says whether grading is safe on this machine."

# Compiled at once, for in a sandbox nothing can be written, and each run would compile the kit anew.
.venv/installed: pyproject.toml attention_course/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "venv is missing; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(PIP_FLAGS) --constraint constraints.txt --editable '.[course]' --editable attention_course --group dev
	$(BIN)/python -m compileall -q autograder attention_course
	@touch $@

demo: install
	@$(BIN)/autograder demo demo

lab: install
	$(BIN)/jupyter lab

# Three at a time, for most tests wait for another process. In the groups and the order of conftest.py.
TOGETHER := -n 3 --dist loadfile --no-loadscope-reorder

test: install lint
	$(BIN)/python -m pytest $(TOGETHER)

# What a person runs all day. Two at a time, for these tests compute; who is done takes over half of what is left.
quick: .venv/installed
	$(BIN)/python -m pytest -m "not slow" -x -n 2 --dist worksteal

# After a change of hidden tests, known mistakes or the diagnosis, and before a release. Any number at a time.
catalogue: .venv/installed
	$(BIN)/python -m pytest -m catalogue -n 2 --dist worksteal

# The same with the lowest versions that pyproject.toml promises, in an environment of their own. PYTHON is the lowest one
# too, if you have it. What these packages need in turn, and tools for contributors, are the newest that fit.
FLOORS := build/floors
floors: .venv/installed
	@mkdir -p build
	$(BIN)/python -m tools.floors > $(FLOORS).txt
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/python -m pip install --quiet --upgrade pip
	$(FLOORS)/bin/python -m pip install --quiet $(PIP_FLAGS) --constraint $(FLOORS).txt --editable '.[course,cluster,pandas,postgresql]' --editable attention_course --group dev
	PATH="$(CURDIR)/$(FLOORS)/bin:$(PATH)" $(FLOORS)/bin/python -m pytest -m "not slow" -n 2 --dist worksteal

# The same tests, measured: which lines and branches of the engine they reach, and which they miss. Measuring makes them
# take half as long again, so it is not part of `make test`, and a test that fails here because it was too slow does not
# count: whether they pass is for `make test` to say.
coverage: .venv/installed
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(TOGETHER)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report

fuzz: .venv/installed
	$(BIN)/python -m tools.fuzz --minutes 10

faults: install
	$(BIN)/python -m tools.faults --count 200

bench: install
	$(BIN)/python -m tools.benchmark

pictures: install
	$(BIN)/python -m tools.pictures
	$(BIN)/python -m tools.best_moments

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# ADDRESS is the folder where pip gets the wheels if they are not beside the notebook: `make dist ADDRESS=https://...`.
ADDRESS ?=
dist: .venv/installed
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist attention_course
	$(BIN)/twine check --strict dist/*
	$(BIN)/autograder dev dist dist --address "$(ADDRESS)"

# A link or an anchor that leads nowhere ends it with an error. (The variable keeps an announcement out of the way.)
docs: .venv/installed
	$(BIN)/autograder dev catalogue --pages build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Look at it, with search: $(BIN)/python -m http.server --directory site"

# After editing a notebook in source/, a command, the JSON or what the sandbox promises: all that is made of them.
sync: .venv/installed
	$(BIN)/autograder dev sync
	$(BIN)/python -m tools.docs
