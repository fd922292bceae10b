"""Right values in the wrong container lose a fifth of the points, once, in every exercise."""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.explain.explaining import ABOVE
from cellcage.calling.lookups import names_used
from tests.helpers.agreement import checked
from tests.helpers.container_slips import AS_GOOD, FORMS, cell, slipped
from tests.helpers.in_process import ASSIGNMENTS, COURSE, LONG, exercise_of, judged_alone, reference_of
from tests.helpers.sandboxes import Marker

SLOW, CATALOGUE = [pytest.mark.slow], [pytest.mark.catalogue]
EXERCISES = [(assignment, exercise) for assignment in ASSIGNMENTS for exercise in assignment.exercises]
LEAST, MOST = 0.1, 1 / 3  # of the points: what a wrong container may cost


# The exercises that `make test` takes for each container; `make catalogue` takes all.
SLIPS = {
    "other library": ("attention_scores", "ablate"),
    "nested lists": ("split_heads", "torch_split_heads"),
    "list of rows": ("per_head_weights",),
    "array for a number": ("projection_shapes",),
    "tensor for a number": ("cache_bytes",),
    "tuple for a list": ("greedy_summary",),
    "list for a tuple": ("causal_attention",),
    "dict for a tuple": ("torch_scaled_dot_product_attention",),
    "one more value": ("single_head",),
    "tuple of one": ("softmax",),
    "list of one": ("ov_circuit",),
    "dict of one": ("qk_circuit",),
    "array for a list": ("greedy_summary",),
}
AS_GOOD_IN = {
    "subclass of ndarray": ("softmax",),
    "masked array": ("causal_mask",),
    "partly masked": ("attention_scores",),
    "memmap": ("split_heads",),
    "matrix": ("per_head_weights", "concat_heads"),
    "negative bit": ("torch_split_heads",),
    "subclass of Tensor": ("torch_masked_attention",),
    "NumPy number": ("cache_bytes", "projection_shapes"),
}
PYTHON_NUMBERS = {"next_token", "cache_bytes", "training_example"}  # whose texts promise an int, worth a tenth
TESTS_NUMBERS = {"next_token", "training_example"}  # have a test of their own that a number is an int


def in_each_exercise(forms, selection):
    """Parameters: each container in each exercise; `make test` takes only the selection."""
    return [
        pytest.param(assignment, exercise, form, id=f"{exercise.name}-{form}", marks=marks)
        for form in forms
        for assignment, exercise in EXERCISES
        for marks in [SLOW * (exercise.name in LONG) if exercise.name in selection[form] else CATALOGUE]
    ]


@cache
def result_of(exercise_name, form):
    """The result of the model answer in this container, and whether the container changes any of its values."""
    assignment = COURSE.of_exercise(exercise_name)
    code = slipped(reference_of(assignment, exercise_of(assignment, exercise_name)), form)
    result = judged_alone(assignment, exercise_of(assignment, exercise_name), code, names_causes=False)
    return result, code.is_changed()


def failed(result):
    return [test for test in result.tests if test.state != "passed"]


def assert_loses_one_fifth(result):
    assert LEAST * result.max_score <= result.max_score - result.score <= MOST * result.max_score, result.tests
    messages = [test.message for test in failed(result) if test.message != ABOVE]
    # A test that judges no values says that nothing else is wrong.
    assert sum("so this costs a fifth of the points." in one for one in messages) == 1


@pytest.mark.parametrize(("assignment", "exercise", "form"), in_each_exercise(FORMS, SLIPS))
def test_wrong_container_loses_a_fifth_once(assignment, exercise, form):
    result, is_slip = result_of(exercise.name, form)
    if not is_slip:
        assert exercise.name not in SLIPS[form], "choose an exercise where this container differs"
        assert result.score == result.max_score
        return
    if form.endswith("for a number") and exercise.name in TESTS_NUMBERS:
        assert 0 < result.max_score - result.score <= MOST * result.max_score
    else:
        assert_loses_one_fifth(result)
    code = slipped(reference_of(assignment, exercise), form)
    assert not checked(assignment, exercise.name, code).passed  # students see it before grading


@pytest.mark.parametrize(("assignment", "exercise", "form"), in_each_exercise(AS_GOOD, AS_GOOD_IN))
def test_equivalent_container_costs_nothing(assignment, exercise, form):
    result, _ = result_of(exercise.name, form)
    if form == "NumPy number" and exercise.name in PYTHON_NUMBERS:
        assert result.max_score * 0.9 <= result.score < result.max_score
    else:
        assert result.score == result.max_score, failed(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "form"),
    [
        pytest.param(assignment, form, id=f"{assignment.name}-{form}", marks=marks)
        for assignment in ASSIGNMENTS
        for form in FORMS
        for marks in [[] if (assignment.name[:2], form) == ("a1", "other library") else CATALOGUE]
    ],
)
def test_wrong_container_costs_the_same_in_the_sandbox(sandbox, assignment, form):
    """Only exercises that call no other return the wrong container and pay for it; their callers pay nothing."""
    names = {exercise.name for exercise in assignment.exercises}
    calls = {name for name in names if names & (names_used(vars(assignment.reference()), name, ()) - {name})}
    cells = [*model_answers(assignment).values()]
    cells += [cell(reference_of(assignment, one), form) for one in assignment.exercises if one.name not in calls]
    report, _ = Marker(assignment, sandbox).mark_cells("ada", cells)
    assert report.status == "graded", report.reason
    for result in report.exercises:
        in_process, is_slip = result_of(result.name, form)
        if is_slip and result.name not in calls:
            if not (form.endswith("for a number") and result.name in TESTS_NUMBERS):
                assert_loses_one_fifth(result)
            assert [test.score for test in result.tests] == [test.score for test in in_process.tests]
        else:
            assert result.score == result.max_score, (result.name, failed(result))


# ---------------------------------------------------------------- several answers


SEVERAL = {
    "right first": "(v, w)",
    "right last": "(w, v)",
    "list": "[w, v]",
    "dict": "{'this': v, 'or this': w}",
    "as a list": "(v, w.tolist())",
    "another shape": "(v, v[..., :1])",
}


@pytest.mark.parametrize("form", SEVERAL)
@pytest.mark.parametrize("name", ["softmax", "torch_split_heads", "layer_norm"])
def test_several_answers_do_not_earn_full_marks(name, form):
    assignment = COURSE.of_exercise(name)
    exercise = exercise_of(assignment, name)
    right = reference_of(assignment, exercise)

    def several(*args, **kwargs):
        value = right(*args, **kwargs)
        return eval(SEVERAL[form], {"v": value, "w": value + 1})

    result = judged_alone(assignment, exercise, several, names_causes=False)
    assert result.score <= 0.5 * result.max_score


@pytest.mark.parametrize(
    "name",
    [
        "DecoderBlock",
        *(pytest.param(name, marks=CATALOGUE) for name in ("TransformerDecoder", "ModernDecoderBlock")),
        pytest.param("online_softmax_attention", marks=CATALOGUE),
    ],
)
def test_extra_second_value_costs_as_much_as_a_wrong_container(name):
    result, _ = result_of(name, "second value")
    assert_loses_one_fifth(result)


# ---------------------------------------------------------------- arguments


CHANGES = {
    "shape": "x.shape = (-1,)",
    "dtype": "x.dtype = np.uint8",
    "a dtype that cannot come back": "x.dtype = complex",
    "layout": "x.strides = x.strides[::-1]",
    "values": "x.reshape(-1)[:] += 1",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["softmax", "attention_scores", "convolution_by_attention"])
def test_changing_only_contiguous_arguments_loses_marks(name, change):
    """The test of unchanged arguments passes non-contiguous arrays, so other tests must notice the change."""
    assignment = COURSE.of_exercise(name)
    exercise = exercise_of(assignment, name)
    right = reference_of(assignment, exercise)

    def changing(*args, **kwargs):
        value = right(*args, **kwargs)
        for x in args[:1]:
            if x.flags.c_contiguous and x.ndim > 1:
                with contextlib.suppress(ValueError, TypeError):
                    exec(CHANGES[change], {"x": x, "np": np})
        return value

    result = judged_alone(assignment, exercise, changing, names_causes=False)
    (lost,) = failed(result)
    assert lost.score == 0 and result.score >= 0.6 * result.max_score
    assert "argument 1 " in lost.message and "after the call than before" in lost.message
