"""Generated files match `source/`, and releases contain no solution or hidden test."""

from __future__ import annotations

import json
import re
from collections import Counter

import nbformat
import pytest

from autograder.authoring import generated_files, notebook_checks
from autograder.course.source_notebook import PREREQUISITE
from autograder.submission import grade_id
from tests.helpers.in_process import ASSIGNMENTS, COURSE, material

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)


def released(assignment):
    return COURSE.root / "assignments" / assignment.name / assignment.notebook.name


@pytest.mark.slow
def test_paired_scripts_and_releases_match_source():
    for path, text in generated_files.generated(COURSE):
        assert path.is_file(), f"{path} is missing; run `make sync`"
        assert path.read_text() == text, f"{path} does not match source/; run `make sync`"


@each
def test_source_has_no_metadata_that_jupyterlab_removes(assignment):
    assert "lines_to_next_cell" not in assignment.notebook.read_text()


@each
def test_release_has_no_solution_or_hidden_test(assignment):
    text = released(assignment).read_text()
    assert "SOLUTION" not in text and "HIDDEN" not in text
    source, release = nbformat.read(assignment.notebook, as_version=4), nbformat.reads(text, as_version=4)
    assert not list(notebook_checks.no_secret(assignment, source, release))
    for cell in release.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            stub = "raise NotImplementedError()" if cell.cell_type == "code" else "YOUR ANSWER HERE"
            assert stub in cell.source, grade_id(cell)


@each
def test_stub_states_tested_dtype_and_unchanged_inputs(assignment):
    """Students must be able to read these requirements before they lose marks for them."""
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
    assert again == [ids[0], "what-help-is-allowed", *ids[1:]]


@each
def test_each_exercise_has_stub_check_points_and_tests(assignment):
    """And one written question is graded by hand."""
    notebook = nbformat.read(assignment.notebook, as_version=4)
    solutions = [
        grade_id(c) for c in notebook.cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("solution")
    ]
    exercises = [exercise.name for exercise in assignment.exercises]
    prerequisites = [PREREQUISITE + name for name in assignment.source.prerequisites]
    assert [name for name in solutions if name.startswith(PREREQUISITE)] == prerequisites
    solutions = [name for name in solutions if name not in prerequisites]
    assert solutions == exercises == material(assignment).suite.exercises()
    assert all(exercise.points > 0 for exercise in assignment.exercises)
    tests = Counter(test.exercise for test in material(assignment).suite.tests)
    assert all(tests[name] >= 4 for name in exercises)
    # `single_head` was added without changing other points; a whole modern block is more work than the rest.
    total = {"a4_multi_head_attention": 23, "a8_modern_attention": 26}.get(assignment.name, 20)
    assert sum(exercise.points for exercise in assignment.exercises) == total
    for cell in notebook.cells:
        if grade_id(cell).startswith("test-"):
            assert cell.source.rstrip().endswith(f'check("{grade_id(cell).removeprefix("test-")}")')
    by_hand = [c for c in notebook.cells if c.cell_type == "markdown" and c.metadata.get("nbgrader", {}).get("grade")]
    assert len(by_hand) == 1
    assert by_hand[0].metadata.nbgrader.points > 0
