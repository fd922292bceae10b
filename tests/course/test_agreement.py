"""The first line of `check` names a mistake as grading does, or says less, and never something else."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.testing.catalogue import read_catalogue
from tests.helpers.agreement import ELSE, GREEN, SAME, agreement, checked
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone, judged_mistake
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import KNOWS_THE_TESTS, wrong_code_of

SOME = 40  # of so many wrong answers, one
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
some = pytest.mark.parametrize("assignment", one_in(3, ASSIGNMENTS, first=1), ids=lambda assignment: assignment.name)


def told(assignment, answers):
    """How the check stands to grading, for each of these wrong answers."""
    for wrong in answers:
        code, exercise = wrong.made(assignment), exercise_of(assignment, wrong.exercise)
        graded = judged_alone(assignment, exercise, code)
        seen = checked(assignment, wrong.exercise, code)
        yield str(wrong), agreement(seen, graded, wrong.accepts), seen, graded


def of_known_mistakes(assignment, mistakes):
    """The same, for each of these mistakes."""
    for mistake in mistakes:
        graded, seen = judged_mistake(assignment, mistake), checked(assignment, mistake.exercise, mistake.code)
        yield f"{mistake.exercise}: {mistake.name}", agreement(seen, graded, lambda name: False), seen, graded


def agrees(found):
    """How often it says what; nothing is another name than grading's."""
    found = list(found)
    other = [(what, seen.result.diagnosis, graded.diagnosis) for what, kind, seen, graded in found if kind == ELSE]
    assert other == []
    return Counter(kind for _, kind, _, _ in found)


@pytest.mark.slow
@some
def test_of_some_wrong_answers(assignment):
    agrees(told(assignment, wrong_code_of(assignment, "author")[::SOME]))


@pytest.mark.slow
@some
def test_of_some_known_mistakes(assignment):
    agrees(of_known_mistakes(assignment, [*read_catalogue(assignment.mistakes)][:: SOME // 2]))


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_of_all_wrong_answers(assignment, record_property):
    """How many pass all visible tests is counted without the answers that somebody wrote because a test missed them."""
    answers = wrong_code_of(assignment, "author")
    found = list(told(assignment, answers))
    count = agrees(found)
    record_property("agreement", dict(count))
    assert count[SAME] > sum(count.values()) / 3
    by_others = [kind for one, (_, kind, *_) in zip(answers, found, strict=True) if one.source != KNOWS_THE_TESTS]
    assert by_others.count(GREEN) < 0.15 * len(by_others)


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_of_all_known_mistakes(assignment, record_property):
    count = agrees(of_known_mistakes(assignment, [*read_catalogue(assignment.mistakes)]))
    record_property("agreement", dict(count))
    assert count[SAME] > sum(count.values()) / 2
