"""`check` asks one question about the student's own lines once an exercise is green, and checks the answer."""

from __future__ import annotations

import json
import shutil

import pytest
from msgspec import structs

from autograder import check, solution
from autograder.authoring.sample_class import model_answers
from autograder.course.content import Visible, settings_of
from autograder.student import own_lines
from autograder.student.check import visible_material
from tests.engine.test_explore import displayed
from tests.helpers.in_process import COURSE
from tests.helpers.slips import names_of
from tests.helpers.small_course import EXERCISE, NAME, said_by, small_course, submit

A1, A4 = COURSE.assignment("a1_scaled_dot_product"), COURSE.assignment("a4_multi_head_attention")
SOFTMAX = """import numpy as np
print("not again")

def softmax(x, axis=-1):
    largest = x.max(axis=axis, keepdims=True)
    exps = np.exp(x - largest)
    return exps / exps.sum(axis=axis, keepdims=True)
"""


@pytest.fixture
def notebook(tmp_path, monkeypatch, capsys):
    """A function that runs cells, as IPython does, in a student's folder of a1 and returns the output."""
    folder = tmp_path / A1.name
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(own_lines, "unanswered", {})
    monkeypatch.setattr("autograder.student.check.passed_here", set())
    names = {"check": check, "solution": solution, "In": []}

    def run(*sources):
        for source in sources:
            names["In"].append(source)
            exec(source, names)
        return capsys.readouterr().out

    return run


def asked(assignment, exercise, source):
    """All questions on this text of an exercise, by how they begin."""
    names = names_of(assignment) | {"In": [source]}
    exec(source, names)
    found = list(own_lines.in_kernel(exercise, names, visible_material(exercise, Visible())))
    return {one.text.split("`")[0].split(" ")[0]: one for one in found}


def test_check_asks_until_there_is_an_answer_and_not_again(notebook, tmp_path):
    shown = notebook(SOFTMAX, 'check("softmax")')
    question = "`softmax(x)` with x (2, 3): which shape has `largest` after line 5?"
    assert f"About your own lines, never graded: {question}" in shown
    assert shown.count("not again") == 1
    assert question in notebook('check("softmax")')
    assert "Type the answer as numbers" in notebook('check("softmax", answer="two")')
    assert "Right: (2, 1)." in notebook('check("softmax", answer="2, 1")')
    assert question not in notebook('check("softmax")')
    assert "No question on `softmax` is open" in notebook('check("softmax", answer="2, 1")')
    own_lines.unanswered.clear()  # as after a restart
    assert question not in notebook('check("softmax")')
    assert json.loads((tmp_path / ".autograder-progress.json").read_text()) == {"softmax": {"passed": True}}


def test_wrong_answer_shows_the_shapes_line_by_line(notebook):
    notebook(SOFTMAX, "check(softmax)")
    shown = notebook("check(softmax, answer=(3, 1))")
    assert "It is (2, 1)." in shown
    rows = shown[shown.index("The shapes for") :].splitlines()
    assert rows == [
        "The shapes for softmax(x) with x (2, 3), as they are computed:",
        "line 5: x.max(axis=axis, keepdims=True)  (2, 1)",
        "line 6: x - largest  (2, 3)",
        "line 6: np.exp(x - largest)  (2, 3)",
        "line 7: exps.sum(axis=axis, keepdims=True)  (2, 1)",
        "line 7: exps / exps.sum(axis=axis, keepdims=True)  (2, 3)",
    ]


def test_nothing_is_asked_about_red_code_or_while_nbgrader_runs_it(notebook, monkeypatch):
    assert "own lines" not in notebook(SOFTMAX.replace("x - largest", "x"), 'check("softmax")')
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert "own lines" not in notebook(SOFTMAX, 'check("softmax")')


def test_field_below_the_question_takes_the_answer(notebook, monkeypatch):
    shown = displayed(monkeypatch)
    notebook(SOFTMAX, 'check("softmax")')
    _, question, box = shown
    assert "<code>largest</code> after line 5? Type the answer below" in question._repr_html_()
    field, said = box.children
    assert field.description == "Answer"
    field.value = "2 3"
    assert said.value.startswith('<div role="alert">')
    assert "It is (2, 1)." in said.value
    assert "line 6: x - largest  (2, 3)" in said.value


def test_code_that_cannot_run_once_more_is_not_asked_about(notebook):
    decorated = SOFTMAX.replace("def", "@kept\ndef")
    shown = notebook("kept = lambda function: function", decorated, "del kept", 'check("softmax")')
    assert "10 of 10 visible tests pass" in shown
    assert "own lines" not in shown


def test_questions_on_a_module_its_batch_axis_and_another_axis():
    source = model_answers(A4)["MultiHeadAttention"]
    shape = asked(A4, "MultiHeadAttention", source)[""]
    assert shape.text.startswith(
        "`MultiHeadAttention(d_model=3, num_heads=2, d_head=5)(x, mask=mask)` with x (2, 4, 3)"
    )
    assert "line 42: self.W_Q(x)  (2, 4, 10)" in shape.rows
    found = asked(A4, "output_projection", model_answers(A4)["output_projection"])
    line = next(
        n for n, text in enumerate(model_answers(A4)["output_projection"].splitlines(), 1) if "heads.shape" in text
    )
    assert found["Without"].right == (line,)
    assert found["Without"].reply(line) == own_lines.Page(f"Right: line {line}, `*batch, h, L, d_v = heads.shape`.")
    source = model_answers(A1)["attention_scores"]
    changed = asked(A1, "attention_scores", source)["If"]
    assert changed.text.startswith("If -2 were -1 in `K.swapaxes(-2, -1)`, line 11: which shape has the result of")
    assert changed.right == (0,)


def test_odd_code_is_read_as_it_is():
    source = """
class Odd:
    pass; small = 1

def softmax(x, *, axis=-1, note=f"{1 + 1} ä"):
    text = f"{x.max():.2f} and {x.sum(axis=axis)}"
    match x.ndim:
        case Odd.small:
            pass
    x = (x -
         x.max(axis=axis, keepdims=True))
    return [np.exp(x) / total for total in [np.exp(x).sum(axis, keepdims=True)]][0]
"""
    (shape,) = [one for key, one in asked(A1, "softmax", source).items() if not key]
    assert "line 10: x - x.max(axis=axis, keepdims=True)  (2, 3)" in shape.rows
    assert "line 12: np.exp(x) / total  (2, 3)" in shape.rows


# ---------------------------------------------------------------- autograder questions


RIGHT = f"""import numpy as np

def {EXERCISE}(X):
    means = X.mean(axis=-1, keepdims=True)
    return X - means
"""
HOSTILE = f"""import numpy as np

def {EXERCISE}(X):
    print("\\n_autograder_saw 0 " + "9 " * 5000)
    for place in range(9999):
        print("\\n_autograder_saw", place, 7, "\\x1b[31m")
    means = X.mean(axis=-1, keepdims=True)
    return X - means[[0, *[1] * 0]] if False else X - means  # `\x1b[31m` is no colour
"""
LOOPS = f"""import sys

def {EXERCISE}(X):
    while "_autograder_saw" in globals():
        pass
    return X - X.mean(axis=-1, keepdims=True)
"""


@pytest.mark.slow
def test_questions_for_an_oral_examination_come_from_the_sandbox(tmp_path):
    course = small_course(tmp_path)
    submit(course, "ada", {EXERCISE: RIGHT})
    said = said_by(course, "questions", "ada", NAME)
    assert f"`{EXERCISE}(X)` with X (2, 2): which shape has `means` after line 4?\n  Answer: (2, 1)\n" in said
    assert "\n    line 5: X - means  (2, 2)\n" in said
    submit(course, "ben", {EXERCISE: HOSTILE})
    hostile = said_by(course, "questions", "ben", NAME)
    assert len(hostile.splitlines()) < 40
    assert "\x1b" not in hostile
    assert "cannot be read" in said_by(course, "questions", "nobody", NAME, code=2)


@pytest.mark.catalogue
def test_no_question_on_code_that_fails_or_does_not_end(tmp_path):
    course = small_course(tmp_path)
    for student, source in {"chloe": LOOPS, "dmitri": RIGHT.replace("X - means", "X")}.items():
        submit(course, student, {EXERCISE: source})
        assert f"{EXERCISE}: no question" in said_by(course, "questions", student, NAME)


# ---------------------------------------------------------------- solution


def test_solution_is_shown_only_after_the_check_has_passed(notebook, monkeypatch):
    notebook(SOFTMAX)
    assert 'after `check("softmax")` has passed' in notebook('solution("softmax")')
    shown = notebook('check("softmax")', 'solution("softmax")')
    model = model_answers(A1)["softmax"]
    assert shown.endswith(model.rstrip("\n") + "\n")
    assert "# " in model
    notebook("softmax = np.exp", 'check("softmax")')
    assert "after `check" in notebook("solution(softmax)".replace("softmax", '"softmax"'))


def test_solution_is_never_shown_where_there_is_none_or_the_course_forbids_it(notebook, monkeypatch, tmp_path):
    notebook(SOFTMAX, 'check("softmax")')
    forbidden = structs.replace(settings_of(COURSE.folder), solutions_after_green=False)
    with monkeypatch.context() as patch:
        patch.setattr("autograder.student.hint.settings_of", lambda folder: forbidden)
        assert "keeps them to itself" in notebook('solution("softmax")')
    shutil.copytree(COURSE.folder, tmp_path / COURSE.folder.name)  # as a wheel installs it, or a hub has it
    assert "keeps them to itself" in notebook('solution("softmax")')
