"""One container slip costs the same in every exercise: right values in another container lose one fifth, once."""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.judge.results import ABOVE
from cellcage.calling.lookups import names_used
from tests.helpers.agreement import checked
from tests.helpers.container_slips import AS_GOOD, FORMS, cell, slipped
from tests.helpers.in_process import ASSIGNMENTS, COURSE, exercise_of, judged_alone, reference_of
from tests.helpers.sandboxes import Marker

CATALOGUE = [pytest.mark.catalogue]
EXERCISES = [(assignment, exercise) for assignment in ASSIGNMENTS for exercise in assignment.exercises]
LEAST, MOST = 0.1, 1 / 3  # of the points: what a slip may cost


# What `make test` takes of each kind; all exercises are in `make catalogue`.
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
    "list of one": ("next_token",),
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
    "number of NumPy's": ("next_token", "projection_shapes"),
}


def in_each_exercise(selection):
    """Each kind in each exercise, of which `make test` takes the selection."""
    return [
        pytest.param(assignment, exercise, form, id=f"{exercise.name}-{form}", marks=marks)
        for form, chosen in selection.items()
        for assignment, exercise in EXERCISES
        for marks in [[] if exercise.name in chosen else CATALOGUE]
    ]


def test_each_kind_is_in_the_selection():
    assert (SLIPS.keys(), AS_GOOD_IN.keys()) == (FORMS.keys(), AS_GOOD.keys())
    assert all(result_of(exercise, form)[1] for form, chosen in SLIPS.items() for exercise in chosen)


@cache
def result_of(exercise_name, form):
    """The result of a model answer in that form, and whether the form changes any of its answers."""
    assignment = COURSE.of_exercise(exercise_name)
    code = slipped(reference_of(assignment, exercise_of(assignment, exercise_name)), form)
    result = judged_alone(assignment, exercise_of(assignment, exercise_name), code, names_causes=False)
    return result, code.is_changed()


def failed(result):
    return [test for test in result.tests if test.state != "passed"]


def loses_one_fifth(result):
    assert LEAST * result.max_score <= result.max_score - result.score <= MOST * result.max_score, result.tests
    said = [test.message for test in failed(result) if test.message != ABOVE]
    assert sum("The values are right, so this costs a fifth of the points." in message for message in said) == 1


@pytest.mark.parametrize(("assignment", "exercise", "form"), in_each_exercise(SLIPS))
def test_right_values_in_another_container_lose_a_fifth_once(assignment, exercise, form):
    result, is_slip = result_of(exercise.name, form)
    if not is_slip:
        assert result.score == result.max_score
        return
    loses_one_fifth(result)
    code = slipped(reference_of(assignment, exercise), form)
    assert not checked(assignment, exercise.name, code).passed  # so that no student is surprised


@pytest.mark.parametrize(("assignment", "exercise", "form"), in_each_exercise(AS_GOOD_IN))
def test_a_container_that_is_as_good_costs_nothing(assignment, exercise, form):
    result, _ = result_of(exercise.name, form)
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
def test_behind_the_wall_it_is_the_same(sandbox, assignment, form):
    """Exercises that call no other have the slip and pay for it. Those that call them pay nothing."""
    names = {exercise.name for exercise in assignment.exercises}
    calls = {name for name in names if names & (names_used(vars(assignment.reference()), name, ()) - {name})}
    cells = [*model_answers(assignment).values()]
    cells += [cell(reference_of(assignment, one), form) for one in assignment.exercises if one.name not in calls]
    with Marker(assignment, sandbox) as marker:
        report, _ = marker.mark_cells("ada", cells)
    assert report.status == "graded", report.reason
    for result in report.exercises:
        in_process, is_slip = result_of(result.name, form)
        if is_slip and result.name not in calls:
            loses_one_fifth(result)
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
def test_several_answers_are_no_right_answer(name, form):
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
def test_second_value_costs_as_a_container_does_if_the_suite_takes_the_first(name):
    result, _ = result_of(name, "second value")
    loses_one_fifth(result)


@pytest.mark.slow
def test_both_orders_of_a_product_are_no_right_answer(sandbox):
    """In the sandbox, too, where two answers in one tuple once earned 4.75 of 5 points."""
    assignment = COURSE.of_exercise("attention_scores")
    cells = [*model_answers(assignment).values(), BOTH_ORDERS]
    with Marker(assignment, sandbox) as marker:
        report, _ = marker.mark_cells("ada", cells)
    scores = {result.name: result.score / result.max_score for result in report.exercises}
    assert scores.pop("attention_scores") <= 0.5
    assert set(scores.values()) == {1.0}


BOTH_ORDERS = """
def attention_scores(Q, K):
    scale = Q.shape[-1] ** 0.5
    return (Q @ np.swapaxes(K, -1, -2) / scale, K @ np.swapaxes(Q, -1, -2) / scale)
"""

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
def test_code_that_changes_only_arguments_without_gaps_gets_no_full_marks(name, change):
    """The test of unchanged arguments passes arrays with gaps, so only the other tests' calls are changed."""
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
