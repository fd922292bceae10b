"""An answer that passes all visible tests of an exercise gets at least nine tenths of its points in grading.

And an answer that gets full marks in grading passes all visible tests.

    python -m tests.course.test_green_means_done a4 [EXERCISE ...]

prints every answer that breaks one of the two promises.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from autograder.course.assignments import Assignment
from autograder.testing.catalogue import read_catalogue
from tests.helpers.accepted import CASES
from tests.helpers.agreement import checked
from tests.helpers.in_process import ASSIGNMENTS, exercise_of, judged_alone
from tests.helpers.wrong_code import wrong_code_of

PROMISED = 0.9
SOURCES = ("author", "list", "slip", "walk")
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


def answers(assignment: Assignment) -> Iterator[tuple[str, str, object]]:
    """Every collected answer: its description, its exercise and its code."""
    for source in SOURCES:
        for wrong in wrong_code_of(assignment, source):
            yield str(wrong), wrong.exercise, wrong.made(assignment)
    for mistake in read_catalogue(assignment.mistakes):
        yield f"known mistake {mistake.name}", mistake.exercise, mistake.code
    for other, answer in CASES:
        if other is assignment:
            yield f"accepted {answer.name}", answer.exercise, answer.code


def broken_promises(assignment: Assignment, found: list[tuple[str, str, object]]) -> Iterator[str]:
    """Answers that pass `check` with less than the promised marks, or fail it with full marks."""
    for what, exercise, code in found:
        result = judged_alone(assignment, exercise_of(assignment, exercise), code, names_causes=False)
        share = result.score / result.max_score
        if PROMISED <= share < 1:
            continue  # neither promise applies
        green = checked(assignment, exercise, code).passed
        if green and share < PROMISED:
            lost = ", ".join(test.name for test in result.tests if test.state != "passed")
            yield f"{exercise}: {what}: green, and gets {share:.2f} ({lost})"
        if not green and share == 1:
            yield f"{exercise}: {what}: red, and gets full marks"


@pytest.mark.slow
@pytest.mark.catalogue
@each
def test_check_and_marks_agree_on_all_answers(assignment: Assignment) -> None:
    assert not list(broken_promises(assignment, [*answers(assignment)]))


if __name__ == "__main__":
    wanted, exercises = "".join(sys.argv[1:2]), sys.argv[2:]
    every = [
        (assignment, one)
        for assignment in ASSIGNMENTS
        if assignment.name.startswith(wanted)
        for one in answers(assignment)
        if not exercises or one[1] in exercises
    ]
    count = 0
    for assignment in dict.fromkeys(assignment for assignment, _ in every):
        for line in broken_promises(assignment, [one for of, one in every if of is assignment]):
            count += 1
            print(line, flush=True)
    print(f"{count} of {len(every)} answers break a promise")
