"""The page on visible tests: each known mistake, and the visible tests and picture that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from autograder.course.assignments import Assignment, Course
from autograder.course.content import Visible
from autograder.reading import read_toml
from autograder.student.check import examine
from autograder.student.check_result import CheckResult
from autograder.testing.catalogue import Mistake, read_catalogue

HEAD = """\
# Visible tests

A check that praises wrong code teaches the wrong thing. So every [known mistake](known-mistakes.md) goes through what
students have, too: the visible tests of its exercise, and the picture that `check` draws of its answer.

| known mistakes | caught by the check | named by it | seen in the picture | by neither |
| --- | --- | --- | --- | --- |
| {total} | {checked} | {named}, {either} as one of two | {seen} of the {drawn} whose exercise has one | {neither} |

`check` names a mistake if the answers to all visible tests are the mistake's, and no other mistake gives them. Grading
gives the same name, or says more.

`autograder dev catalogue --pages` writes this page. ✗ marks the checks that a mistake fails, and the picture in
which it differs from what is asked for. What neither shows is a refinement, with its reason in the assignment's
`not_shown.toml`; and every accepted submission in `tests/course/accepted/` passes every check and draws as equal.
"""


@dataclass(frozen=True)
class Seen:
    """What students see of one mistake. `reason` is why visible tests need not show it; may be empty."""

    assignment: str
    mistake: Mistake
    verdict: CheckResult
    reason: str = ""

    @property
    def checked(self) -> bool:
        """True if a visible test fails."""
        return not self.verdict.passed

    @property
    def seen(self) -> bool:
        """True if the picture differs from the expected one."""
        return self.verdict.drawn_equal is False

    @property
    def named(self) -> str:
        """The one or two names that `check` gives; empty if none."""
        result = self.verdict.result
        return result.diagnosis or "" if result.known_mistake else ""


def rows(course: Course) -> Iterator[Seen]:
    """Every mistake of the assignments whose exercises all have visible tests."""
    for assignment in course.assignments().values():
        if all(path.is_file() for path in assignment.visible):
            yield from rows_of(assignment)


def rows_of(assignment: Assignment) -> Iterator[Seen]:
    """Every mistake of an assignment, in the exercises' order."""
    reasons = not_shown(assignment)
    order = [exercise.name for exercise in assignment.exercises]
    right = vars(assignment.reference())
    for mistake in sorted(read_catalogue(assignment.mistakes), key=lambda one: order.index(one.exercise)):
        names = dict(right) | {mistake.exercise: mistake.code}
        verdict = examine(mistake.exercise, names, Visible(assignment.content.parent))
        yield Seen(assignment.name, mistake, verdict, reasons.get(mistake.exercise, {}).get(mistake.name, ""))


def not_shown(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Why visible tests do not show some mistakes: the reason by exercise and mistake. The file is optional."""
    return read_toml(assignment.content / "not_shown.toml", dict[str, dict[str, str]])


def page(found: Iterable[Seen]) -> str:
    """The page for `found`, which comes assignment by assignment."""
    found = list(found)
    counts = {
        "total": len(found),
        "checked": sum(row.checked for row in found),
        "named": sum(row.named == row.mistake.name for row in found),
        "either": sum(row.named not in ("", row.mistake.name) for row in found),
        "seen": sum(row.seen for row in found),
        "drawn": sum(row.verdict.drawn_equal is not None for row in found),
        "neither": sum(not row.checked and not row.seen for row in found),
    }
    parts = [HEAD.format(**counts)]
    for name, group in groupby(found, key=lambda row: row.assignment):
        parts.append(f"## {name}\n")
        for exercise, table in groupby(group, key=lambda row: row.mistake.exercise):
            parts.append(_table(exercise, list(table)))
    return "\n".join(parts)


def _table(exercise: str, found: list[Seen]) -> str:
    tests = [test.name.removeprefix("test_").replace("_", " ") for test in found[0].verdict.result.tests]
    columns = tests + (["picture"] if found[0].verdict.drawn_equal is not None else [])
    lines = [f"### `{exercise}`\n", f"| mistake | {' | '.join(columns)} |", f"| --- |{' :-: |' * len(columns)}"]
    for row in found:
        caught = [test.state != "passed" for test in row.verdict.result.tests] + [row.seen]
        marks = " | ".join("✗" if one else "" for one in caught[: len(columns)])
        lines.append(f"| {row.mistake.name} | {marks} |")
    left = [f"{row.mistake.name}: {row.reason}" for row in found if row.reason]
    return "\n".join([*lines, *(["", "Not shown by visible tests: " + "; ".join(left) + "."] if left else [])]) + "\n"
