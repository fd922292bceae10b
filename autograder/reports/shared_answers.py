"""A sign that the model answer is wrong: most students who get everything else right give one and the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.report import ExerciseResult, Report

FEW = 3  # students; fewer may have worked together


@dataclass(frozen=True)
class SharedAnswer:
    """An answer that the model answer does not give. count: students who give it; of: students right in the rest"""

    assignment: str
    exercise: str
    test: str
    call: str
    count: int
    of: int

    def __str__(self) -> str:
        return (
            f"{self.assignment}, {self.exercise}, {self.test}: {self.count} of {self.of} students who get everything "
            f"else right here give one and the same answer to `{self.call}`, and your solution gives another. Look at "
            "your solution, and at what the text promises"
        )


def shared_answers(reports: Sequence[Report]) -> list[SharedAnswer]:
    """What to look at, by assignment and exercise."""
    by_exercise: dict[tuple[str, str], list[ExerciseResult]] = {}
    for report in reports:
        for exercise in report.exercises:
            if not exercise.withdrawn:
                by_exercise.setdefault((report.assignment, exercise.name), []).append(exercise)
    return [one for (assignment, _), results in by_exercise.items() for one in _shared(assignment, results)]


def _shared(assignment: str, results: Sequence[ExerciseResult]) -> Iterator[SharedAnswer]:
    failed = [tuple((test.name, test.answer) for test in one.tests if test.state != "passed") for one in results]
    lost = [{name for name, _ in tests} for tests in failed]
    for tests, count in Counter(failed).items():
        names = {name for name, _ in tests}
        # If the students pass nothing, no test shows that they have understood the task.
        is_whole = len(names) == len(results[0].tests)
        if count < FEW or is_whole or not tests or not all(answer for _, answer in tests):
            continue
        right_elsewhere = sum(others <= names for others in lost)
        if 2 * count > right_elsewhere:
            test, answer = tests[0]
            call, _, _ = answer.rpartition(" ")
            yield SharedAnswer(assignment, results[0].name, test, call, count, right_elsewhere)
