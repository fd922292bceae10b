"""The catalogue page: each known mistake, the tests of its exercise that it fails, and the marks it loses."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from autograder.authoring.visible_names import keep_visible_names
from autograder.course import Assignment, Course
from autograder.diagnosis import fingerprints, visible_fingerprints
from autograder.diagnosis.catalogue import Mistake, read_catalogue
from autograder.judge.judging import judge
from autograder.judge.material import Material
from autograder.judge.process import material_of
from autograder.report import ExerciseResult
from autograder.testing.local import Here

ANSWERED_BY = ("diagnosis", "judge", "sandbox/protocol", "testing")  # folders of the engine on which answers depend
Row = tuple[Assignment, Mistake, ExerciseResult]
HEAD_FILE = "catalogue_head.md"  # in the course's folder, replaces this text above the tables
HEAD = """\
# Known mistakes

How many wrong implementations do the hidden tests accept? {accepted} of {total}. They grew beside the tests, so this
says that nothing known gets through, not that nothing can.

`autograder dev catalogue --pages` writes this page. Each row is a wrong implementation in an exercise's `mistakes.py`,
and ✗ marks the tests that it fails.
"""


def rows(course: Course) -> Iterator[Row]:
    """Every mistake of the course with the result of its exercise."""
    for assignment in course.assignments().values():
        material = replace(material_of(assignment), hypotheses=None, examples={})
        with material.suite:
            for mistake in read_catalogue(assignment.mistakes):
                yield assignment, mistake, result_of(assignment, material, mistake)


def result_of(assignment: Assignment, material: Material, mistake: Mistake) -> ExerciseResult:
    """The exercise judged with the mistake in place of the reference, in this process."""
    names = dict(material.reference) | {mistake.exercise: mistake.code}
    exercises = [exercise for exercise in assignment.exercises if exercise.name == mistake.exercise]
    return judge(material, Here(names), exercises)[0]


def keep(course: Course, everything: bool = False) -> Iterator[Path]:
    """Save fingerprints of wrong answers beside the exercises; yields each file written.

    everything: include those that are up to date
    """
    for assignment in course.assignments().values():
        inputs = assignment.version(*ANSWERED_BY)
        has_names = visible_fingerprints.is_fresh(assignment.content) or not all(map(Path.is_file, assignment.visible))
        if everything or not has_names or fingerprints.made_from(assignment.content) != inputs:
            yield from keep_visible_names(assignment)
            yield fingerprints.write(assignment.content, _fingerprints(assignment), inputs)


def _fingerprints(assignment: Assignment) -> Mapping[str, fingerprints.Fingerprints]:
    """The answers of known mistakes and mutants to the hidden tests."""
    material = material_of(assignment, keeps=False)
    assert material.hypotheses is not None
    with material.suite:
        for exercise in material.suite.exercises():
            if "torch" in sys.modules:
                sys.modules["torch"].manual_seed(0)  # a mistake may add a layer, whose random weights then repeat
            material.hypotheses.prepare(exercise, asks_all=True)
    return material.hypotheses.fingerprints()


def page(found: Iterable[Row]) -> str:
    """The page for `found`, which comes assignment by assignment."""
    ordered = sorted(found, key=_place)
    accepted = sum(result.score == result.max_score for _, _, result in ordered)
    parts = [_head(ordered).format(accepted=accepted, total=len(ordered))]
    for name, group in groupby(ordered, key=lambda row: row[0].name):
        members = list(group)
        parts.append(f"## {name}: {len(members)} known mistakes\n")
        for exercise, table in groupby(members, key=lambda row: row[1].exercise):
            parts.append(_table(exercise, list(table)))
    return "\n".join([*parts, *_prices(prices(ordered))])


def _head(ordered: list[Row]) -> str:
    own = [path for assignment, _, _ in ordered[:1] if (path := assignment.course_folder / HEAD_FILE).is_file()]
    return own[0].read_text(encoding="utf-8") if own else HEAD


def prices(found: Iterable[Row]) -> dict[str, dict[str, float]]:
    """The deductions for each mistake that several exercises have, by exercise, in percent of its points."""
    costs: dict[str, dict[str, float]] = {}
    for _, mistake, result in found:
        by_exercise = costs.setdefault(mistake.name, {})
        by_exercise[mistake.exercise] = max(by_exercise.get(mistake.exercise, 0.0), _lost(result))
    return {name: found for name, found in sorted(costs.items()) if len(found) > 1}


def _prices(several: dict[str, dict[str, float]]) -> Iterator[str]:
    if several:
        yield "## What one mistake costs in several exercises\n"
        yield "A slip should cost about the same everywhere: `times` is what it costs at most, by what at least.\n"
        yield "| mistake | from | to | times | exercises |\n| --- | --- | --- | --- | --- |"
        for name, costs in several.items():
            least, most = min(costs.values()), max(costs.values())
            times = f"{most / least:.1f}" if least else "∞"
            exercises = ", ".join(f"`{exercise}`" for exercise in costs)
            yield f"| {name} | {least:.0f} % | {most:.0f} % | {times} | {exercises} |"
        yield ""


def _place(row: Row) -> tuple[str, int]:
    assignment, mistake, _ = row
    return assignment.name, [exercise.name for exercise in assignment.exercises].index(mistake.exercise)


def _lost(result: ExerciseResult) -> float:
    """In percent of the exercise's points."""
    return 100 * (1 - result.score / result.max_score)


def _table(exercise: str, found: list[Row]) -> str:
    tests = [test.name.removeprefix("test_") for test in found[0][2].tests]
    lines = [
        f"### `{exercise}`\n",
        f"| mistake | loses | {' | '.join(test.replace('_', ' ') for test in tests)} |",
        f"| --- | --- |{' :-: |' * len(tests)}",
    ]
    for _, mistake, result in found:
        lost = _lost(result)
        marks = " | ".join("" if test.state == "passed" else "✗" for test in result.tests)
        lines.append(f"| {mistake.name} | {lost:.0f} % | {marks} |")
    return "\n".join(lines) + "\n"
