"""Whole submissions to this course, by the command line: what some students write costs no more than it should."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.submission import grade_id
from tests.conftest import copy_course
from tests.helpers.small_course import command

# As students write them. Each differs from the right mask in its type, its values or both.
MASKS = {
    "float32": "np.tril(np.ones((length, length), dtype=np.float32))",
    "tensor": "torch.tril(torch.ones(length, length))",
    "minus": "(1 - np.tril(np.ones((length, length)))) * -1e9",
    "zeros": "np.zeros((length, length))",
    "twice": "2 * np.tril(np.ones((length, length))) + 1",
    "inverted": "1.0 - np.tril(np.ones((length, length)))",
}


@pytest.mark.slow
def test_masks_of_numbers_are_graded(tmp_path):
    """The diagnosis once subtracted booleans, and all of the submission's marks were lost."""
    course = copy_course(tmp_path)
    assignment = course.assignment("a2_causal_masking")
    right = model_answers(assignment)
    for student, mask in MASKS.items():
        body = f"def causal_mask(length):\n    return {mask}"
        hand_in(fill(assignment.notebook, right | {"causal_mask": body}), tmp_path / "submitted", student, assignment)
    code, said = command(course, "grade", "submitted", "--json", "marks.json")
    assert code == 0, said
    for one in json.loads((tmp_path / "marks.json").read_text()):
        scores = {exercise["name"]: exercise["score"] for exercise in one["exercises"]}
        assert scores["causal_mask"] < 3, one["student"]
        assert sum(scores.values()) - scores["causal_mask"] == one["max_score"] - 3, one["student"]
        assert not any("not_produced" in exercise for exercise in one["exercises"])


TORCH = {
    "softmax": "softmax = softmax(np.ones(3))",
    "math": "math = 3",
    "F": "F = 64",
    "errors": 'np.seterr(all="raise")',
    "dtype": "torch.set_default_dtype(torch.float64)",
    "device": 'torch.set_default_device("meta")',
    "gradients": "torch.set_grad_enabled(False)",
}


def with_cell(notebook, exercise, source):
    """The notebook with a code cell below the check of an exercise."""
    place = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == f"test-{exercise}")
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(source, id=f"scratch-{place}"))
    return notebook


@pytest.mark.slow
def test_settings_of_libraries_and_what_builds_on_a_broken_name(tmp_path):
    """An exercise that calls a name which a later cell has taken is judged with the reference in its place."""
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
    code, said = command(course, "grade", "submitted", "--json", "marks.json")
    assert code == 0, said
    reports = json.loads((tmp_path / "marks.json").read_text())
    assert {one["student"]: one["score"] for one in reports} == dict.fromkeys(TORCH, 20.0)
