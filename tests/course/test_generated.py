"""What is generated is what `source/` gives, and what students get holds nothing they should not have."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from autograder.authoring import generated_files
from autograder.course.assignments import PREREQUISITE
from autograder.submission import grade_id
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE, judged, material

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)


def released(assignment):
    return COURSE.root / "assignments" / assignment.name / assignment.notebook.name


@pytest.mark.slow
def test_twins_and_releases_are_in_step_with_source():
    for path, text in generated_files.generated(COURSE):
        assert path.is_file(), f"{path} is missing; run `make sync`"
        assert path.read_text() == text, f"{path} is not what source/ gives; run `make sync`"


@each
def test_source_has_no_metadata_that_jupyterlab_takes_out_when_it_saves(assignment):
    assert "lines_to_next_cell" not in assignment.notebook.read_text()


@pytest.mark.catalogue
@pytest.mark.slow
def test_sync_writes_what_is_missing_and_then_nothing(own_course):
    written = list(generated_files.sync(own_course))
    assert len(written) >= len(ASSIGNMENTS)  # the releases; the paired scripts were copied
    assert list(generated_files.sync(own_course)) == []


@each
def test_release_holds_no_solution_and_no_hidden_line(assignment):
    text = released(assignment).read_text()
    for secret in ("SOLUTION", "HIDDEN", "autograder.student.stock", "mistakes.py", "points off"):
        assert secret not in text
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            stub = "raise NotImplementedError()" if cell.cell_type == "code" else "YOUR ANSWER HERE"
            assert stub in cell.source, grade_id(cell)


@each
def test_no_line_of_a_solution_is_in_the_release(assignment):
    source = nbformat.read(assignment.notebook, as_version=4)
    text = "\n".join(c.source for c in nbformat.read(released(assignment), as_version=4).cells)
    for cell in source.cells:
        hidden = re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", cell.source, re.DOTALL)
        for line in "\n".join(hidden).splitlines():
            if len(line.strip()) > 25:
                assert line.strip() not in text


@pytest.mark.slow
@each
def test_every_stub_is_not_started_and_scores_0(assignment):
    names = {}
    for cell in nbformat.read(released(assignment), as_version=4).cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and "NotImplementedError" in cell.source:
            exec("import torch, torch.nn as nn, numpy as np, math\n" + cell.source, names)
    undone = {exercise.name: names[exercise.name] for exercise in assignment.exercises}
    for result in judged(assignment, undone).values():
        assert result.score == 0
        assert not result.started
        assert {test.state for test in result.tests} == {"not known"}
        assert all("not started yet" in test.message for test in result.tests)


@each
def test_a_stub_says_what_else_costs_marks(assignment):
    """Before it costs: that the dtype is kept, and that what comes in stays as it is."""
    cells = {grade_id(c): c.source for c in nbformat.read(released(assignment), as_version=4).cells}
    for test in material(assignment).suite.tests:
        stub = " ".join(cells[test.exercise].split())
        if "float32" in test.sentence:
            assert re.search(r"\bdtype\b", stub), f"{test.exercise}: {test.sentence}"
        if re.search(r"not changed|as before", test.sentence):
            assert re.search(r"\bstays?\b", stub), f"{test.exercise}: {test.sentence}"


@each
def test_cells_have_stable_readable_ids(assignment):
    ids = [cell["id"] for cell in json.loads(assignment.notebook.read_text())["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]+", i) for i in ids)
    again = [cell["id"] for cell in json.loads(released(assignment).read_text())["cells"]]
    assert again == ids


@each
def test_course_is_complete(assignment):
    """Each exercise has a stub cell, a check cell, points, and tests; one written question is graded by hand."""
    notebook = nbformat.read(assignment.notebook, as_version=4)
    solutions = [
        grade_id(c) for c in notebook.cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("solution")
    ]
    exercises = [exercise.name for exercise in assignment.exercises]
    prerequisites = [PREREQUISITE + name for name in assignment.prerequisites]
    assert [name for name in solutions if name.startswith(PREREQUISITE)] == prerequisites
    solutions = [name for name in solutions if name not in prerequisites]
    assert solutions == exercises == material(assignment).suite.exercises()
    assert all(exercise.points > 0 for exercise in assignment.exercises)
    # A single head came later, and moved no mark; a whole block of today is more work than the rest.
    total = {"a4_multi_head_attention": 23, "a8_modern_attention": 26}.get(assignment.name, 20)
    assert sum(exercise.points for exercise in assignment.exercises) == total
    for cell in notebook.cells:
        if grade_id(cell).startswith("test-"):
            assert cell.source.rstrip().endswith(f'check("{grade_id(cell).removeprefix("test-")}")')
    by_hand = [c for c in notebook.cells if c.cell_type == "markdown" and c.metadata.get("nbgrader", {}).get("grade")]
    assert len(by_hand) == 1
    assert by_hand[0].metadata.nbgrader.points > 0


@each
def test_the_shape_alone_is_worth_at_most_a_tenth(assignment):
    tests = material(assignment).suite.tests
    for exercise in assignment.exercises:
        mine = [test for test in tests if test.exercise == exercise.name]
        total = sum(test.weight for test in mine)
        shape = sum(test.weight for test in mine if test.name == "test_shape")
        assert shape <= total / 10, exercise.name
        assert len(mine) >= 4, exercise.name


def test_the_architecture_page_names_the_packages_that_there_are():
    """The table of packages, top down, is what `make lint` holds imports against."""
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name for layer in contracts[0]["layers"] for name in layer.split(" | ")]
    table = (ROOT / "docs" / "architecture.md").read_text().split("| package of")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = [re.findall(r"^\| `(\w+)`", line)[0] for line in rows]
    assert sorted(named) == sorted(name for name in layers if name != "__main__")
