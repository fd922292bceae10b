"""A cell below a check cannot take marks away from code that was right when the check ran."""

from __future__ import annotations

import nbformat
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.submission import grade_id
from tests.conftest import copy_course
from tests.helpers.classes import LOOP
from tests.helpers.small_course import EXERCISE, WRONG, released, reports_of, small_course

pytestmark = pytest.mark.usefixtures("kept_workers")

SCRATCH = {
    "assigned": f"{EXERCISE} = {EXERCISE}(np.ones((2, 3)))",
    "looped": f"for {EXERCISE} in range(3):\n    pass",
    "commented": f"# a shape\n\n{EXERCISE} = 5",
    "reset": "%reset -f",
    "deleted": f"del {EXERCISE}",
    "wrong": f"def {EXERCISE}(X):\n    return 0 * X",
    "endless": LOOP,
    "exits": f"def {EXERCISE}(X):\n    import os\n    os._exit(0)",
}
TORCH = {
    "softmax": "softmax = softmax(np.ones(3))",
    "F": "F = 64",
    "errors": 'np.seterr(all="raise")',
    "dtype": "torch.set_default_dtype(torch.float64)",
}


def with_cell(notebook, exercise, source):
    """The notebook with a code cell below the check of an exercise."""
    place = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == f"test-{exercise}")
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(source, id=f"scratch-{place}"))
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = small_course(tmp_path_factory.mktemp("later") / "course")
    assignment = course.assignment("a1_first")
    for student, source in SCRATCH.items():
        notebook = with_cell(fill(released(course), model_answers(assignment)), EXERCISE, source)
        hand_in(notebook, course.root / "submitted", student, assignment)
    # A later cell repairs an answer that was wrong at its check.
    repaired = with_cell(fill(released(course), {EXERCISE: WRONG}), EXERCISE, model_answers(assignment)[EXERCISE])
    hand_in(repaired, course.root / "submitted", "repaired", assignment)
    hand_in(fill(released(course), {EXERCISE: WRONG}), course.root / "submitted", "mistaken", assignment)
    return course


@pytest.mark.slow
def test_state_at_the_check_counts_if_it_earns_more(course):
    reports = reports_of(course)
    assert reports.pop("mistaken")["score"] < 3
    assert {student: one["score"] for student, one in reports.items()} == dict.fromkeys(reports, 3.0)
    for student, source in SCRATCH.items():
        line = source.splitlines()[-1 if student == "commented" else 0]
        (exercise,) = reports[student]["exercises"]
        why = "was judged as it was at its check, since a later cell changes what it returns"
        assert exercise["evidence"] == f"{EXERCISE} {why}: `{line}`."


@pytest.mark.slow
def test_later_cells_with_library_settings_cost_no_marks(tmp_path):
    """If a later cell overwrites an exercise that others call, the reference replaces it."""
    course = copy_course(tmp_path)
    assignment = course.assignment("a1_scaled_dot_product")
    answers = model_answers(assignment) | {
        "torch_scaled_dot_product_attention": "@torch.compile\n"
        + model_answers(assignment)["torch_scaled_dot_product_attention"]
    }
    for student, source in TORCH.items():
        last = assignment.exercises[-1].name
        below = "softmax" if student == "softmax" else last
        notebook = with_cell(fill(assignment.notebook, answers), below, source)
        hand_in(notebook, tmp_path / "submitted", student, assignment)
    assert {student: one["score"] for student, one in reports_of(course).items()} == dict.fromkeys(TORCH, 20.0)
