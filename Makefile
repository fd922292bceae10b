# make demo       grade a small class through nbgrader, show its marks
# make test       run everything CI runs
# make quick      run half of the tests, in less than a minute
# make catalogue  test every known mistake and wrong answer, where `make test` takes a selection (an hour)
# make lab        open JupyterLab on the course
# make sync       write all generated files
# make coverage   run all tests, and show which lines of the engine they reach
# make floors     run the quick tests with the lowest versions that pyproject.toml promises
# make fuzz       read mutated untrusted messages for ten minutes
# make faults     disturb two hundred runs at random, write docs/reliability.md (half an hour)
# make bench      time a class against stock nbgrader, write docs/benchmark.md (half an hour)
# make pictures   make the pictures in docs/ in a real browser
# make docs       build the pages with search into site/
# make site       build the course's own site for students, with notebooks that run in the browser, into public/
# make dist       build the release: wheels, sdist, notebooks
# Each of them first sets up .venv.

PYTHON ?= python3
# Without a graphics card, PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu" saves gigabytes.
PIP_FLAGS ?=
BIN := .venv/bin
# uv, if it is there, takes half as long. These options make it compile, and look at all indexes, as pip does.
UV := $(shell command -v uv)
INSTALL = $(if $(UV),$(UV) pip install --python $(1) --compile-bytecode --index-strategy unsafe-best-match,$(1) -m pip install) --quiet
# JupyterLab and tests find programs by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Images of containers often set it, and then each process of the tests compiles them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install compiled bench dist site faults floors coverage docs pictures fuzz demo test catalogue lab sync lint quick

# BUBBLEWRAP=no installs no system package.
install: compiled
	@./.ci/bubblewrap
	@echo "$(BIN)/autograder doctor says whether grading is safe on this machine."

# The sandbox cannot write files, so each run would compile edited files again.
compiled: .venv/installed
	@$(BIN)/python -m compileall -q cellcage/src autograder attention_course

.venv/installed: pyproject.toml cellcage/pyproject.toml attention_course/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "venv is missing; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing PyTorch, JupyterLab and nbgrader into .venv: a minute or two, less with uv."
	$(if $(UV),,$(BIN)/python -m pip install --quiet --upgrade pip)
	$(call INSTALL,$(BIN)/python) $(PIP_FLAGS) --constraint constraints.txt --editable '.[course]' --editable ./cellcage --editable ./attention_course
	@touch $@

# What only tests and contributors need; the demo and JupyterLab start without it.
.venv/developer: .venv/installed
	$(call INSTALL,$(BIN)/python) --constraint constraints.txt --group dev
	@touch $@

demo: install
	@$(BIN)/autograder demo demo

lab: install
	$(BIN)/jupyter lab

# Three at a time, because most tests wait for another process. conftest.py sets groups and order.
TOGETHER := -n 3 --dist loadfile --no-loadscope-reorder

test: install .venv/developer lint
	$(BIN)/python -m pytest $(TOGETHER)

# These tests are CPU-bound, so two at a time; an idle worker takes half of the remaining tests.
quick: compiled .venv/developer
	$(BIN)/python -m pytest -m "not slow" -x -n 2 --dist worksteal

# Run it after a change of hidden tests, known mistakes or the diagnosis, and before a release.
catalogue: compiled .venv/developer
	$(BIN)/python -m pytest -m catalogue -n 2 --dist worksteal

# In an environment of its own. Indirect requirements and contributors' tools are the newest that fit.
FLOORS := build/floors
floors: .venv/developer
	@mkdir -p build
	$(BIN)/python -m tools.floors > $(FLOORS).txt
	$(PYTHON) -m venv --clear $(FLOORS)
	$(if $(UV),,$(FLOORS)/bin/python -m pip install --quiet --upgrade pip)
	$(call INSTALL,$(FLOORS)/bin/python) $(PIP_FLAGS) --constraint $(FLOORS).txt --editable '.[course,cluster,pandas,postgresql]' --editable ./cellcage --editable ./attention_course --group dev
	PATH="$(CURDIR)/$(FLOORS)/bin:$(PATH)" $(FLOORS)/bin/python -m pytest -m "not slow" -n 2 --dist worksteal

# Measuring takes half as long again. Ignore tests that fail here because they were too slow, or need bubblewrap.
IN_SANDBOX := cellcage/tests tests/sandbox tests/engine/test_later_cells.py tests/engine/test_cell_errors.py tests/engine/test_explaining.py tests/courses/test_assert_cells.py
coverage: compiled .venv/developer
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(TOGETHER)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report
	-$(BIN)/python -m tools.sandbox_lines -q $(IN_SANDBOX)

fuzz: .venv/developer
	$(BIN)/python -m tools.fuzz --minutes 10

faults: install .venv/developer
	$(BIN)/python -m tools.faults --count 200

bench: install .venv/developer
	$(BIN)/python -m tools.benchmark

pictures: install .venv/developer
	$(BIN)/python -m tools.pictures
	$(BIN)/python -m tools.best_moments

lint: .venv/developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# ADDRESS: where pip finds the wheels if they are not beside the notebook, such as `make dist ADDRESS=https://...`. If it
# is a folder of a branch on GitHub, each notebook also begins with a link that opens it in Colab.
ADDRESS ?=
# What the course's wheel adds to its version. Students get a second release in a term because its number is higher.
COURSE_BUILD ?= .post$(shell date -u +%Y%m%d%H%M)
dist: .venv/developer
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist cellcage
	COURSE_BUILD=$(COURSE_BUILD) $(BIN)/python -m build --no-isolation --wheel --outdir dist attention_course
	$(BIN)/twine check --strict dist/*
	$(BIN)/autograder dev dist dist --address "$(ADDRESS)"

# Fails at a dead link or anchor. The variable silences an announcement.
docs: .venv/developer
	$(BIN)/autograder dev catalogue --pages build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Look at it, with search: $(BIN)/python -m http.server --directory site"

# ADDRESS, such as https://me.github.io/course, is where the site will be; notebooks for Colab need it.
LITE := build/jupyterlite
$(LITE)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(LITE)
	$(LITE)/bin/python -m pip install --quiet --upgrade pip
	$(LITE)/bin/python -m pip install --quiet --constraint constraints.txt --group site
	@touch $@

site: .venv/developer $(LITE)/installed
	$(BIN)/python -m tools.site public --jupyterlite $(LITE)/bin/python --address "$(ADDRESS)"

# Run it after you edit a notebook in source/, or a command.
sync: .venv/developer
	$(BIN)/autograder dev sync
	$(BIN)/python -m tools.docs
