"""Wrong answers that no catalogue contains lose marks, and no diagnosis of them is wrong.

Their sources are `author` and `list`, see `tests.helpers.wrong_code`.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence

import pytest

from autograder.course.assignments import Assignment
from autograder.report import ExerciseResult
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone
from tests.helpers.selection import one_in
from tests.helpers.wrong_code import FOLDER, WrongCode, telling, wrong_code_of

each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(8, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_some_wrong_answers_lose_marks_and_have_no_wrong_name(assignment):
    """A third of the answers whose words no known mistake has, so that no other test checks their diagnosis."""
    count_named(assignment, [*telling(assignment)][::3])


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(9, ASSIGNMENTS, first=2), ids=lambda assignment: assignment.name)
def test_published_faults_lose_marks_and_have_no_wrong_name(assignment):
    count_named(assignment, wrong_code_of(assignment, "list"))


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_most_wrong_answers_are_named(assignment):
    """Places of mistakes, which only the sandbox looks for, come on top of these names."""
    answers = wrong_code_of(assignment, "author")
    assert count_named(assignment, answers) >= 2 / 3 * len(answers)


@pytest.mark.slow
@pytest.mark.catalogue
def test_most_published_faults_are_named():
    faults = {assignment.name: wrong_code_of(assignment, "list") for assignment in ASSIGNMENTS}
    named = sum(count_named(assignment, faults[assignment.name]) for assignment in ASSIGNMENTS)
    assert named >= 0.75 * sum(not fault.is_right for found in faults.values() for fault in found)


@pytest.mark.slow
def test_every_published_operator_is_used_or_says_why_not():
    operators = tomllib.loads((FOLDER / "operators.toml").read_text(encoding="utf-8"))
    used = {fault.source.split()[1] for assignment in ASSIGNMENTS for fault in wrong_code_of(assignment, "list")}
    nowhere = {name for name, operator in operators.items() if "nowhere" in operator}
    assert len(operators) == 52
    assert used == operators.keys() - nowhere


def count_named(assignment: Assignment, answers: Sequence[WrongCode]) -> int:
    """How many answers have a diagnosis. Only right answers get full marks, and no diagnosis is wrong."""
    results = {one: judged(assignment, one) for one in answers}
    full = {str(one) for one, result in results.items() if result.score == result.max_score}
    assert full == {str(one) for one in answers if one.is_right}
    named = [(one, result.diagnosis) for one, result in results.items() if result.diagnosis]
    assert not [(str(one), name) for one, name in named if not one.accepts(name)]
    return len(named)


@functools.cache  # two tests need the published faults
def judged(assignment: Assignment, answer: WrongCode) -> ExerciseResult:
    return judged_alone(assignment, exercise_of(assignment, answer.exercise), answer.made(assignment))
