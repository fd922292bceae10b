"""What `check` in a notebook promises about known mistakes: green means nine tenths, and it names most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.catalogue_page import result_of
from autograder.authoring.problems import Problem
from autograder.course.assignments import Assignment
from autograder.course.content import Visible
from autograder.explain import visible_fingerprints
from autograder.explain.material import Material
from autograder.judge.rules import GRADING
from autograder.reading import read_toml
from autograder.student.check import judged
from autograder.testing.catalogue import read_catalogue
from autograder.testing.functions import Here
from autograder.testing.suite import Suite

GREEN = 0.9  # of an exercise's points, at least, for what passes all its visible tests
NAMED = 2 / 3  # of an exercise's known mistakes, at least, that `check` names


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
