"""One container slip costs the same in every exercise: right values in another container lose one fifth, once."""

from __future__ import annotations

from functools import cache

import pytest

from autograder.authoring.sample_class import model_answers
from autograder.judge.results import ABOVE
from tests.helpers.agreement import checked
from tests.helpers.container_slips import AS_GOOD, FORMS, cell, slipped
from tests.helpers.in_process import ASSIGNMENTS, COURSE, exercise_of, judged_alone, reference_of
from tests.helpers.sandboxes import Marker

CATALOGUE = [pytest.mark.catalogue]
EXERCISES = [(assignment, exercise) for assignment in ASSIGNMENTS for exercise in assignment.exercises]
LEAST, MOST = 0.1, 1 / 3  # of the points: what a slip may cost


def in_each_exercise(forms, every):
    """Each form in each exercise; `make test` takes one in `every`, so that each form is among them."""
    for place, (assignment, exercise) in enumerate(EXERCISES):
        for number, form in enumerate(forms):
            marks = [] if (place + 7 * number) % every == 0 else [pytest.mark.catalogue]
            yield pytest.param(assignment, exercise, form, id=f"{exercise.name}-{form}", marks=marks)


@cache
def result_of(exercise_name, form):
    """The result of a model answer in that form, and whether the form changes any of its answers."""
    assignment = COURSE.of_exercise(exercise_name)
    code = slipped(reference_of(assignment, exercise_of(assignment, exercise_name)), form)
    result = judged_alone(assignment, exercise_of(assignment, exercise_name), code, names_causes=False)
    return result, code.changed[0]


def failed(result):
    return [test for test in result.tests if test.state != "passed"]


def loses_one_fifth(result):
    assert LEAST * result.max_score <= result.max_score - result.score <= MOST * result.max_score, result.tests
    said = [test.message for test in failed(result) if test.message != ABOVE]
    assert sum("The values are right, so this costs a fifth of the points." in message for message in said) == 1


@pytest.mark.parametrize(("assignment", "exercise", "form"), [*in_each_exercise(FORMS, 19)])
def test_right_values_in_another_container_lose_a_fifth_once(assignment, exercise, form):
    result, is_slip = result_of(exercise.name, form)
    if not is_slip:
        assert result.score == result.max_score
        return
    loses_one_fifth(result)
    code = slipped(reference_of(assignment, exercise), form)
    assert not checked(assignment, exercise.name, code).passed  # so that no student is surprised


@pytest.mark.parametrize(("assignment", "exercise", "form"), [*in_each_exercise(AS_GOOD, 29)])
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
        for marks in [
            [] if (assignment.name[:2], form) in {("a1", "other library"), ("a3", "list of one")} else CATALOGUE
        ]
    ],
)
def test_behind_the_wall_it_is_the_same(sandbox, assignment, form):
    """All exercises of a notebook have the slip, and each pays for its own."""
    cells = [*model_answers(assignment).values()]
    cells += [cell(reference_of(assignment, exercise), form) for exercise in assignment.exercises]
    with Marker(assignment, sandbox) as marker:
        report, _ = marker.mark_cells("ada", cells)
    assert report.status == "graded", report.reason
    for result in report.exercises:
        in_process, is_slip = result_of(result.name, form)
        if is_slip:
            loses_one_fifth(result)
            assert [test.score for test in result.tests] == [test.score for test in in_process.tests]
        else:
            assert result.score == result.max_score, (result.name, failed(result))
