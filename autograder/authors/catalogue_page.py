"""The catalogue of known mistakes as a page: each mistake against each test of its exercise, and the marks it loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from autograder.course import Assignment, Course
from autograder.judging.catalogue import Mistake, read_catalogue
from autograder.judging.here import Here
from autograder.judging.judge import Material, judge
from autograder.judging.suite import Suite
from autograder.report import ExerciseResult

Row = tuple[Assignment, Mistake, ExerciseResult]
HEAD = """\
# Known mistakes

How many wrong implementations does a set of tests accept? The method: write small wrong implementations of what the
tests judge (no scaling, no W_O, a mask inverted, an input handed back, ...), each complete and runnable, and count
those that pass.

| tests | wrong implementations accepted |
| --- | --- |
| these suites | {accepted} of {total} |
| TorchCode's attention exercises | 24 of 57 |
| deep-ml's | 11 of 23 |
| TinyTorch's graded cells | 12 of 16 |

The first row is computed with this page, over the catalogue below, which grew beside the suites: it says that nothing
known gets through, not that nothing can. The others were measured once on the published tests, with implementations
written for their exercises. The suites also give full marks to more than a hundred right implementations in really
different styles (`tests/right_ways/`), and at most a tenth to zeros, constants, random numbers, an argument handed
back, or the visible examples learned by heart.

What follows is written by `autograder dev catalogue`; a test fails where it is not what suites and catalogue give.
Each row is a small wrong implementation in `autograder/attention/*/mistakes.py`. It must lose marks in its own exercise
(✗ marks the tests it fails), never all of them for one slip, and none elsewhere; and it must be named by its behaviour
alone.
"""


def rows(course: Course) -> Iterator[Row]:
    """Every mistake of the course with the result of its own exercise."""
    for assignment in course.assignments().values():
        with Suite(assignment.suite) as suite:
            for mistake in read_catalogue(assignment.suite):
                yield assignment, mistake, result_of(assignment, suite, mistake)


def result_of(assignment: Assignment, suite: Suite, mistake: Mistake) -> ExerciseResult:
    """The exercise judged with the mistake in place of the reference, in this process."""
    module = assignment.reference()
    names = dict(vars(module)) | {mistake.exercise: mistake.code}
    exercises = [exercise for exercise in assignment.exercises if exercise.name == mistake.exercise]
    return judge(Material(suite, vars(module)), Here(names), exercises)[0]


def page(found: Iterable[Row]) -> str:
    """The page for `found`, which comes assignment by assignment."""
    ordered = sorted(found, key=_place)
    accepted = sum(result.score == result.max_score for _, _, result in ordered)
    parts = [HEAD.format(accepted=accepted, total=len(ordered))]
    for name, group in groupby(ordered, key=lambda row: row[0].name):
        members = list(group)
        parts.append(f"## {name}: {len(members)} known mistakes\n")
        for exercise, table in groupby(members, key=lambda row: row[1].exercise):
            parts.append(_table(exercise, list(table)))
    return "\n".join(parts)


def _place(row: Row) -> tuple[str, int]:
    assignment, mistake, _ = row
    return assignment.name, [exercise.name for exercise in assignment.exercises].index(mistake.exercise)


def _table(exercise: str, found: list[Row]) -> str:
    tests = [test.name.removeprefix("test_") for test in found[0][2].tests]
    lines = [
        f"### `{exercise}`\n",
        f"| mistake | loses | {' | '.join(test.replace('_', ' ') for test in tests)} |",
        f"| --- | --- |{' :-: |' * len(tests)}",
    ]
    for _, mistake, result in found:
        lost = 100 * (1 - result.score / result.max_score)
        marks = " | ".join("" if test.state == "passed" else "✗" for test in result.tests)
        lines.append(f"| {mistake.name} | {lost:.0f} % | {marks} |")
    return "\n".join(lines) + "\n"
