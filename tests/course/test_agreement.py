"""The first line of `check` names the same mistake as grading, or none; it never names another one."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.testing.catalogue import read_catalogue
from tests.helpers.agreement import ELSE, GREEN, SAME, agreement, checked
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone, judged_mistake
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import KNOWS_THE_TESTS, wrong_code_of

SOME = 40  # one wrong answer in so many
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
some = pytest.mark.parametrize("assignment", one_in(5, ASSIGNMENTS, first=1), ids=lambda assignment: assignment.name)


def compared(assignment, answers):
    """Each wrong answer with its kind of agreement, and the results of `check` and of grading."""
    for wrong in answers:
        code, exercise = wrong.made(assignment), exercise_of(assignment, wrong.exercise)
        graded = judged_alone(assignment, exercise, code)
        seen = checked(assignment, wrong.exercise, code)
        yield str(wrong), agreement(seen, graded, wrong.accepts), seen, graded


def compared_mistakes(assignment, mistakes):
    """The same for known mistakes."""
    for mistake in mistakes:
        graded, seen = judged_mistake(assignment, mistake), checked(assignment, mistake.exercise, mistake.code)
        yield f"{mistake.exercise}: {mistake.name}", agreement(seen, graded, lambda name: False), seen, graded


def assert_agrees(found):
    """Fail where `check` names another mistake; return how often each kind of agreement occurs."""
    found = list(found)
    other = [(name, seen.result.diagnosis, graded.diagnosis) for name, kind, seen, graded in found if kind == ELSE]
    assert other == []
    return Counter(kind for _, kind, _, _ in found)


@pytest.mark.slow
@some
def test_check_agrees_with_grading_on_some_wrong_answers(assignment):
    assert_agrees(compared(assignment, wrong_code_of(assignment, "author")[::SOME]))


@pytest.mark.slow
@some
def test_check_agrees_with_grading_on_some_known_mistakes(assignment):
    assert_agrees(compared_mistakes(assignment, [*read_catalogue(assignment.mistakes)][:: SOME // 2]))


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_check_agrees_with_grading_on_all_wrong_answers(assignment, record_property):
    """The share that passes all visible tests leaves out answers written because a test had missed them."""
    answers = wrong_code_of(assignment, "author")
    found = list(compared(assignment, answers))
    count = assert_agrees(found)
    record_property("agreement", dict(count))
    assert count[SAME] > sum(count.values()) / 3
    by_others = [kind for one, (_, kind, *_) in zip(answers, found, strict=True) if one.source != KNOWS_THE_TESTS]
    assert by_others.count(GREEN) < 0.15 * len(by_others)


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_check_agrees_with_grading_on_all_known_mistakes(assignment, record_property):
    count = assert_agrees(compared_mistakes(assignment, [*read_catalogue(assignment.mistakes)]))
    record_property("agreement", dict(count))
    assert count[SAME] > sum(count.values()) / 2
