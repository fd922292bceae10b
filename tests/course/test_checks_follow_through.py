"""If an earlier exercise is unwritten, deleted, failing or wrong, `check` of a later one names it first."""

from __future__ import annotations

import linecache

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.student.check import examine
from autograder.student.kernel import exercises_below
from tests.helpers.in_process import ASSIGNMENTS, COURSE, exercise_of, judged_alone
from tests.helpers.selection import one_in

IMPORTS = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"
BODIES = {"undone": "raise NotImplementedError()", "failing": "1 / 0", "wrong": "return a[0]"}
CALLS = {  # at least so many calls between model answers, so that the test cannot pass without any
    "a1_scaled_dot_product": 2,
    "a2_causal_masking": 2,
    "a3_heads": 0,
    "a4_multi_head_attention": 1,
    "a5_transformer_decoder": 4,
    "a6_transformer_summarizer": 1,
    "a7_attention_and_convolution": 3,
    "a8_modern_attention": 3,
    "a9_looking_at_heads": 0,
}
CASES = [(how, assignment) for how in ("undone", "deleted", "failing", "wrong") for assignment in ASSIGNMENTS]
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)


def finished(assignment):
    """The names that a finished notebook defines, with its prerequisites."""
    names = {name: vars(assignment.reference())[name] for name in assignment.source.prerequisites}
    for name, source in {"imports": IMPORTS, **model_answers(assignment)}.items():
        place = f"<cell of {name}>"
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        exec(compile(source, place, "exec"), names)
    return names


def undoing(name, is_class, how):
    """Code that defines `name` and does not work."""
    if not is_class:
        return f"def {name}(*a, **k):\n    {BODIES[how]}"
    made = f"class {name}(nn.Module):\n    def __init__(self, *a, **k):\n"
    if how == "wrong":
        return f"{made}        super().__init__()\n    def forward(self, x, *a):\n        return x"
    return f"{made}        {BODIES[how]}"


@pytest.mark.slow
@pytest.mark.parametrize(("how", "assignment"), one_in(10, CASES), ids=lambda one: getattr(one, "name", one))
def test_first_line_names_the_broken_callee(assignment, how):
    exercises = [exercise.name for exercise in assignment.exercises]
    met = 0
    for name in [*assignment.source.prerequisites, *exercises]:
        names = finished(assignment)
        if how == "deleted":
            del names[name]
        else:
            exec(undoing(name, isinstance(names[name], type), how), names)
        for later in exercises:
            if later == name:
                continue
            verdict = examine(later, names)
            text = " ".join(verdict.text().split())
            if name not in exercises_below(later, names, [name]):
                assert verdict.passed, (later, text)
                continue
            met += 1
            first = text.partition("visible tests")[0]
            if how == "deleted" and name not in exercises:  # an error, as the test below says, here or in a callee
                asked = f"name '{name}' is not defined" in text and "in a cell that has run?" in text
                assert asked or "Start there" in first, (name, text)
                continue
            assert f"{later}: `{name}`, which this calls" in first and "Start there" in first, (name, text)
            assert "not started" not in text + verdict._repr_html_()
            assert f'hint("{name}")' in repr(verdict)
    assert met >= CALLS[assignment.name]


def test_undefined_name_of_an_earlier_assignment_is_a_name_error_as_in_grading():
    """It is no callee to start with: nothing in this notebook brings it, and grading puts nothing in its place."""
    assignment = COURSE.of_exercise("rms_norm")
    names, error = finished(assignment), "raised NameError: name 'layer_norm' is not defined"
    exec("def rms_norm(x, gamma, eps=1e-5):\n    return layer_norm(x, gamma, 0.0, eps)", names)
    verdict = examine("rms_norm", names)
    assert verdict.culprit is None
    assert all(error in test.message or test.message == "The same as above." for test in verdict.result.tests)
    graded = judged_alone(assignment, exercise_of(assignment, "rms_norm"), names["rms_norm"])
    assert graded.score == 0
    assert error in graded.tests[0].message
    exec("def layer_norm(x, gamma, beta, eps):\n    return x", names)  # the student's own, in this notebook
    assert examine("rms_norm", names).culprit.name == "layer_norm"
