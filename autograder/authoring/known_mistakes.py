"""Known mistakes by tests: what each answers and loses, and whether `check` in a notebook keeps its promises on them.

`check` promises that green means nine tenths of the points, and it names most known mistakes.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from autograder.authoring.problems import Problem
from autograder.course.assignments import Assignment, Course, Exercise
from autograder.course.content import Visible
from autograder.explain import fingerprints, visible_fingerprints
from autograder.explain.explaining import judge
from autograder.explain.fingerprints import Hypotheses
from autograder.explain.material import Material, material_of
from autograder.judge.attempt import attempt
from autograder.judge.rules import GRADING
from autograder.reading import read_toml
from autograder.report import ExerciseResult, Finding
from autograder.student.check import judged
from autograder.testing.callbacks import parameter_names
from autograder.testing.catalogue import Mistake, read_catalogue
from autograder.testing.functions import Here, has_chance
from autograder.testing.mismatch import Mismatch
from autograder.testing.suite import Suite
from cellcage.notebook_calls import read
from cellcage.protocol.calls import Answer

ANSWERED_BY = ("explain", "judge", "testing", "calling", "protocol", "values")  # folders on which answers depend
GREEN = 0.9  # of an exercise's points, at least, for what passes all its visible tests
NAMED = 2 / 3  # of an exercise's known mistakes, at least, that `check` names
MistakeRow = tuple[Assignment, Mistake, ExerciseResult]
HEAD_FILE = "catalogue_head.md"  # in the course's folder, replaces this text above the tables
HEAD = """\
# Known mistakes

How many wrong implementations do the hidden tests accept? {accepted} of {total}. They grew beside the tests, so this
says that nothing known gets through, not that nothing can.

`autograder dev catalogue --pages` writes this page. Each row is a wrong implementation in an exercise's `mistakes.py`,
and ✗ marks the tests that it fails.
"""


def rows(course: Course) -> Iterator[MistakeRow]:
    """Every mistake of the course with the result of its exercise."""
    for assignment in course.assignments.values():
        material = replace(material_of(assignment), hypotheses=None, examples={})
        for mistake in read_catalogue(assignment.mistakes):
            yield assignment, mistake, result_of(assignment, material, mistake)


def result_of(assignment: Assignment, material: Material, mistake: Mistake) -> ExerciseResult:
    """The exercise judged with the mistake in place of the reference, in this process."""
    names = dict(material.reference) | {mistake.exercise: mistake.code}
    exercises = [exercise for exercise in assignment.exercises if exercise.name == mistake.exercise]
    return judge(material, Here(names, of_course=True), exercises)[0]


def keep(course: Course, everything: bool = False) -> Iterator[Path]:
    """Save fingerprints of wrong answers beside the exercises; yields each file written.

    everything: include those that are up to date
    """
    for assignment in course.assignments.values():
        inputs = assignment.version_by(*ANSWERED_BY)
        all_visible = all(path.is_file() for path in assignment.visible)  # else `check` can give no names
        is_old = all_visible and not visible_fingerprints.is_fresh(assignment.content)
        if everything or is_old or fingerprints.made_from(assignment.content) != inputs:
            if all_visible:
                yield visible_fingerprints.write(assignment.content, dict(_visible_rows(assignment)))
            yield fingerprints.write(assignment.content, _fingerprints(assignment), inputs)


def _fingerprints(assignment: Assignment) -> Mapping[str, fingerprints.Fingerprints]:
    """The answers of known mistakes and mutants to the hidden tests."""
    material = material_of(assignment)
    assert material.hypotheses is not None
    return {name: _repeatable(material.hypotheses, name) for name in material.suite.exercises()}


def _repeatable(hypotheses: Hypotheses, exercise: str) -> fingerprints.Fingerprints:
    """A mistake may add a layer, whose random weights are the same each time."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    return hypotheses.fingerprints(exercise)


def _visible_rows(assignment: Assignment) -> Iterator[tuple[bytes, bytes]]:
    """A row for each different set of answers that mistakes give to an exercise's visible tests."""
    catalogue = read_catalogue(assignment.mistakes)
    found: dict[tuple[str, bytes], tuple[list[Finding], list[Answer]]] = {}
    right = vars(assignment.reference())
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # for small inputs, threads cost more than they gain
    exercises = {exercise.name: exercise for exercise in assignment.exercises}
    suite = Suite(assignment.visible)
    material = Material(suite)
    for mistake in (*catalogue.mistakes, *catalogue.variants):
        answers = _visible_answers(material, right, mistake, exercises[mistake.exercise])
        if answers:
            place = visible_fingerprints.place_of(mistake.exercise, answers)
            causes, _ = found.setdefault((mistake.exercise, place), ([], answers))
            causes.append(Finding("known mistake", mistake.name, hint=mistake.hint))
    for (exercise, _), (causes, answers) in found.items():
        if shared := visible_fingerprints.shared(causes):
            yield visible_fingerprints.row_of(exercise, answers, shared)


def _visible_answers(material: Material, right: Mapping[str, Any], mistake: Mistake, which: Exercise) -> list[Answer]:
    """A mistake's answers to its visible tests, as `check` receives them; none if they are weak evidence."""
    names = Here({**right, mistake.exercise: mistake.code}, of_course=True)
    found = attempt(material, names, which, functools.partial(parameter_names, {}))
    calls = [(recorded.call, read(recorded.answer)) for recorded in found.calls]
    is_chance = found.non_deterministic or any(has_chance(call, answer) for call, answer in calls)
    has_value = any(isinstance(outcome.error, Mismatch) for outcome in found.outcomes)
    return [answer for _, answer in calls] if has_value and not is_chance else []


# ---------------------------------------------------------------- the catalogue page


def page(found: Iterable[MistakeRow]) -> str:
    """The page for `found`, which comes assignment by assignment."""
    ordered = sorted(found, key=_place)
    accepted = sum(result.score == result.max_score for _, _, result in ordered)
    parts = [_head(ordered).format(accepted=accepted, total=len(ordered))]
    for name, group in groupby(ordered, key=lambda row: row[0].name):
        members = list(group)
        parts.append(f"## {name}: {len(members)} known mistakes\n")
        for exercise, table in groupby(members, key=lambda row: row[1].exercise):
            parts.append(_table(exercise, list(table)))
    return "\n".join(parts)


def _head(ordered: list[MistakeRow]) -> str:
    own = [path for assignment, _, _ in ordered[:1] if (path := assignment.course.folder / HEAD_FILE).is_file()]
    return own[0].read_text(encoding="utf-8") if own else HEAD


def _place(row: MistakeRow) -> tuple[str, int]:
    assignment, mistake, _ = row
    return assignment.name, [exercise.name for exercise in assignment.exercises].index(mistake.exercise)


def _lost(result: ExerciseResult) -> float:
    """In percent of the exercise's points."""
    return 100 * (1 - result.score / result.max_score)


def _table(exercise: str, found: list[MistakeRow]) -> str:
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


# ---------------------------------------------------------------- what `check` promises


@dataclass(frozen=True)
class Promises:
    """What was found. named: by exercise, how many known mistakes `check` names, and of how many"""

    problems: tuple[Problem, ...] = ()
    named: tuple[tuple[str, int, int], ...] = ()

    @property
    def in_words(self) -> str:
        """How many are named, in one line; empty if that is not known."""
        counts = ", ".join(f"{exercise} {found} of {of}" for exercise, found, of in self.named)
        return f"known mistakes that the visible tests name: {counts}" if counts else ""


def promises(assignment: Assignment) -> Promises:
    """Judge each known mistake by the visible tests and by the hidden ones.

    A mistake with a reason in `not_shown.toml` may be green. Names are counted only if `visible_fingerprints.npz` is
    up to date.
    """
    reasons = not_shown(assignment)
    visible, suite = Visible(assignment.content.parent), Suite(assignment.suites)
    material = Material(suite, vars(assignment.reference()), rules=GRADING)
    problems = list[Problem]()
    all_of, named = Counter[str](), Counter[str]()
    with_tests = {path.parent.name for path in assignment.visible if path.is_file()}
    for mistake in read_catalogue(assignment.mistakes):
        if mistake.exercise not in with_tests & set(suite.exercises()):
            continue
        names = dict(material.reference) | {mistake.exercise: mistake.code}
        verdict = judged(mistake.exercise, Here(names, of_course=True), "", visible, names)
        all_of[mistake.exercise] += 1
        says = "".join(f"-or-{one.name}-or-" for one in verdict.result.of("known mistake"))
        named[mistake.exercise] += f"-or-{mistake.name}-or-" in says
        if verdict.passed and not reasons.get(mistake.exercise, {}).get(mistake.name, "").strip():
            result = result_of(assignment, material, mistake)
            if (share := result.score / result.max_score) < GREEN:
                path = assignment.content / mistake.exercise / "mistakes.py"
                what = f"it passes all visible tests, and gets {share:.0%} of the points"
                remedy = (
                    "Add a visible test that it fails, such as one with other numbers, or give a reason in "
                    f'not_shown.toml: [{mistake.exercise}] {mistake.name} = "..."'
                )
                problems.append(Problem(path, mistake.name, what, remedy))
    if not visible_fingerprints.is_fresh(assignment.content):
        return Promises(tuple(problems))
    counts = tuple((exercise, named[exercise], number) for exercise, number in all_of.items())
    return Promises((*problems, *_too_few(assignment, counts)), counts)


def not_shown(assignment: Assignment) -> dict[str, dict[str, str]]:
    """Why visible tests do not show some mistakes: the reason by exercise and mistake. The file is optional."""
    return read_toml(assignment.content / "not_shown.toml", dict[str, dict[str, str]])


def _too_few(assignment: Assignment, counts: tuple[tuple[str, int, int], ...]) -> Iterator[Problem]:
    for exercise, found, number in counts:
        if found < NAMED * number:
            path = assignment.content / exercise / "visible_tests.py"
            what = f"`check` names {found} of {number} known mistakes, which is less than two thirds"
            remedy = "Choose numbers for which wrong answers differ, and let a test set all parameters."
            yield Problem(path, exercise, what, remedy)
