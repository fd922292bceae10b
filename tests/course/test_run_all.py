"""Run All works in a released notebook, whose demonstrations wait for exercises, and in a solved one.

And it takes no longer than docs/notebooks.md says.
"""

from __future__ import annotations

import re

import nbformat
import pytest

from autograder.authoring.sample_class import fill
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.kernel import Kernel, run_all
from tests.helpers.selection import one_in
from tests.helpers.slips import cells as solutions

NEEDS = re.compile(r"This cell needs `(\w+)`(?: from a cell above, which waits for `(\w+)`)?\. Finish it")
TRAINS = {"a6_transformer_summarizer", "a9_looking_at_heads"}  # for half a minute, except while they are graded
# The seconds that notebooks with longer training may take; all others, 30.
MOST = {"a5": 150, "a6": 90, "a8": 150}
PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


@pytest.fixture(scope="module")
def kernel():
    opened = Kernel()
    yield opened
    opened.close()


def released(assignment):
    return ROOT / "assignments" / assignment.name / assignment.notebook.name


def run(kernel, path, grading=False):
    """Run a notebook; for each cell, its source, its output and its error."""
    kernel.open(path)
    kernel.tell(f"import autograder; autograder.grading = {grading}")
    return list(kernel.run_all())


def count_waiting(cells, assignment):
    """How many cells wait for an exercise. No cell ends with an error."""
    assert [(source, error) for source, _, error in cells if error] == []
    needed = [match[2] or match[1] for _, shown, _ in cells if (match := NEEDS.search(shown))]
    assert set(needed) <= {one.name for one in assignment.exercises} | set(assignment.source.prerequisites)
    return len(needed)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(8, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_released_notebook_runs_and_its_demonstrations_wait(kernel, assignment):
    trains = assignment.name in TRAINS
    waiting = count_waiting(run(kernel, released(assignment), grading=trains), assignment)
    assert trains or waiting >= len(assignment.exercises) / 2


@pytest.mark.slow
@pytest.mark.catalogue
@pytest.mark.parametrize("assignment", [a for a in ASSIGNMENTS if a.name in TRAINS], ids=lambda a: a.name)
def test_released_notebook_with_training_runs(kernel, assignment):
    assert count_waiting(run(kernel, released(assignment)), assignment)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(len(ASSIGNMENTS), ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_solved_notebook_runs_and_nothing_waits(kernel, assignment, tmp_path):
    path = tmp_path / assignment.name / assignment.notebook.name
    path.parent.mkdir()
    solved = {name: source for name, source in solutions(assignment.name).items() if "### BEGIN SOLUTION" in source}
    nbformat.write(fill(released(assignment), solved), path)
    cells = run(kernel, path)
    assert count_waiting(cells, assignment) == 0
    passed = [shown for _, shown, _ in cells if re.search(r": (\d+) of \1 visible tests pass", shown)]
    assert len(passed) == len(assignment.exercises)


@pytest.mark.catalogue
@each
def test_run_all_takes_as_long_as_the_page_says(assignment, tmp_path):
    short = assignment.name[:2]
    seconds = int(re.search(rf"^\| {re.escape(short)} .* (\d+) \|$", PAGE, re.MULTILINE)[1])
    assert seconds <= MOST.get(short, 30)
    solved, _ = run_all(assignment.notebook, tmp_path)
    assert solved <= 1.5 * seconds + 5  # other processors differ
    waiting, _ = run_all(released(assignment), tmp_path, allow_errors=True)
    assert waiting <= 1.5 * seconds + 5
