"""What a student sees in a notebook: `check` and `heatmap`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder import check, heatmap
from autograder.errors import CourseError
from autograder.faces.check import CheckFailed, examine
from autograder.faces.rubric import as_html
from autograder.marking.mark import Here
from autograder.marking.picture import draw
from autograder.marking.report import ExerciseResult
from autograder.visible.pictures import PICTURES
from tests.conftest import ROOT
from tests.in_process import ASSIGNMENTS, COURSE


def not_started(*args, **kwargs):
    raise NotImplementedError


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_exercise_has_visible_checks_that_the_reference_passes(assignment):
    names = vars(assignment.reference())
    for exercise in assignment.exercises:
        verdict = examine(exercise.name, names)
        assert verdict.passed, verdict
        assert len(verdict.result.tests) >= 2, exercise.name
        undone = examine(exercise.name, names | {exercise.name: not_started})
        assert "not started yet" in repr(undone)
        assert "not started yet" in undone._repr_html_()


def test_a_check_before_its_function_says_which_cell_to_run(capsys):
    check("softmax")
    assert "Run the cell that defines softmax first" in capsys.readouterr().out


def test_a_wrong_answer_is_shown_with_call_place_and_got():
    verdict = examine("softmax", {"softmax": lambda x, axis=-1: np.exp(x)})
    assert not verdict.passed
    assert "softmax(x) with x" in repr(verdict)
    assert "is 2.718" in repr(verdict)
    assert "✗ not yet" in verdict._repr_html_()


def test_a_function_may_be_given_itself_and_an_unknown_name_is_an_error(capsys):
    def softmax(x, axis=-1):
        raise NotImplementedError

    check(softmax)
    assert "softmax: not started yet" in capsys.readouterr().out
    with pytest.raises(CourseError, match="no visible checks for 'sofmax'; there are some for softmax"):
        check("sofmax")


def test_validate_is_told_and_ordinary_work_is_not_stopped(monkeypatch, capsys):
    check("softmax")
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CheckFailed, match="not started yet"):
        check("softmax")


def test_a_messages_text_is_escaped():
    def softmax(x, axis=-1):
        raise ValueError("<script>alert(1)</script>")

    page = examine("softmax", {"softmax": softmax})._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_importing_the_package_is_quick_and_brings_no_torch():
    code = (
        "import sys, time; start = time.perf_counter(); import autograder; "
        "print(time.perf_counter() - start, 'torch' in sys.modules)"
    )
    seconds, torch_too = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert torch_too == "False"
    assert float(seconds) < 0.3


def test_heatmap_as_text_and_picture():
    picture = heatmap(
        [[0.25, 0.75], [1.0, 0.0]], rows=["Money", "Bank"], columns=["Money", "Bank"], title="weights <1>"
    )
    assert "Money   0.25   0.75" in repr(picture)
    html = picture._repr_html_()
    assert html.count("<rect") == 4
    assert "weights &lt;1&gt;" in html
    heads = heatmap(torch.full((2, 3, 3), 1 / 3))
    assert "head 2" in repr(heads)
    assert heads._repr_html_().count("<svg") == 2
    mask = heatmap(np.tril(np.ones((3, 3), dtype=bool)))
    assert "yes" in repr(mask)


def test_heatmap_of_numbers_below_zero_and_of_many_columns():
    signed = heatmap(np.array([[-0.5, 0.25], [2.0, -2.0]]))._repr_html_()
    above, below = "#2f6db3", "#c2601c"
    assert signed.count(f'fill="{below}" fill-opacity="0.25"') == 1  # -0.5 beside a largest of 2
    assert signed.count(f'fill="{below}" fill-opacity="1.00"') == 1
    assert signed.count(f'fill="{above}"') == 2
    assert "-0.50" in signed
    large = heatmap(np.full((20, 32), 0.5))._repr_html_()
    assert large.count("<rect") == 20 * 32
    assert "0.50<" not in large
    assert ">4<" in large
    assert ">5<" not in large


@pytest.mark.parametrize(("weights", "labels"), [(np.zeros(3), None), (np.zeros((2, 2)), ["a"])])
def test_heatmap_says_what_does_not_fit(weights, labels):
    with pytest.raises(ValueError, match=r"heatmap draws|labels for"):
        heatmap(weights, rows=labels)


def test_course_finds_exercises_and_names_what_is_wrong(own_course):
    assert COURSE.of_exercise("softmax").name == "a1_scaled_dot_product"
    notebook = own_course.assignment("a1_scaled_dot_product").notebook
    notebook.write_text(notebook.read_text().replace('"points": 5,', "", 1))
    with pytest.raises(CourseError, match="cell 'test-attention_scores': no points"):
        _ = own_course.assignment("a1_scaled_dot_product").exercises


@pytest.mark.parametrize("name", PICTURES)
def test_every_visible_example_can_be_drawn_of_a_right_answer(name):
    assignment = COURSE.of_exercise(name)
    module = assignment.reference()
    result = ExerciseResult(name, (), 1.0)
    picture = draw(Here(dict(vars(module)), module), result)
    assert picture is not None
    assert len(picture.matrices[0]) == len(picture.rows)
    assert as_html(replace(result, picture=picture)).count("<svg") == len(picture.matrices)


@pytest.mark.parametrize(
    "answer", [None, 3, "text", np.zeros((7, 7)), (np.zeros(3),), [[1], [1, 2]], np.array(["<b>"])]
)
def test_what_cannot_be_drawn_is_not_drawn(answer):
    names = {"causal_mask": lambda length: answer}
    assert draw(Here(names, None), ExerciseResult("causal_mask", (), 1.0)) is None
