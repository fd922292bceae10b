"""How a class is doing, as values: what the report's page, tables and terminal view are made of."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autograder.report import ExerciseResult, Report

BINS = 10  # the distribution of marks goes by tenths of what can be earned


@dataclass(frozen=True)
class TestRate:
    """One test over the class. `stopped` are those of `failed` in which the code gave no answer."""

    __test__ = False

    name: str
    sentence: str
    passed: int
    failed: int
    not_known: int
    stopped: int

    @property
    def share(self) -> float:
        """Passed, of all who handed in, 0 to 1."""
        return self.passed / (self.passed + self.failed + self.not_known)


@dataclass(frozen=True)
class MistakeCount:
    """A known mistake and how many made it."""

    name: str
    exercise: str
    count: int
    hint: str


@dataclass(frozen=True)
class ExerciseRate:
    """One exercise over the class; `mean` in points, `full` how many have all of them."""

    name: str
    max_score: float
    mean: float
    full: int
    not_started: int
    tests: tuple[TestRate, ...]

    @property
    def share(self) -> float:
        """The mean as a share of the points there are, 0 to 1."""
        return self.mean / self.max_score if self.max_score else 0.0


@dataclass(frozen=True)
class Attention:
    """A student to look after, and why."""

    student: str
    why: str


@dataclass(frozen=True)
class AssignmentRate:
    """One assignment over the class. Marks are of those that could be graded."""

    name: str
    max_score: float
    graded: int
    failed: int
    mean: float | None
    median: float | None
    lowest: float | None
    highest: float | None
    bins: tuple[int, ...]
    exercises: tuple[ExerciseRate, ...]
    mistakes: tuple[MistakeCount, ...]
    attention: tuple[Attention, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in the report's JSON."""
        found = asdict(self)
        for exercise, values in zip(self.exercises, found["exercises"], strict=True):
            values["share"] = round(exercise.share, 4)
            for test, test_values in zip(exercise.tests, values["tests"], strict=True):
                test_values["share"] = round(test.share, 4)
        return found


def bin_names() -> list[str]:
    """What each bin of the distribution holds, in percent."""
    step = 100 // BINS
    return [f"{step * i} to {step * (i + 1)} %" for i in range(BINS)]


def class_statistics(reports: Sequence[Report]) -> list[AssignmentRate]:
    """Each assignment's statistics, in the assignments' order of names."""
    students = list(dict.fromkeys(report.student for report in reports))
    names = sorted({report.assignment for report in reports})
    return [_assignment(name, [r for r in reports if r.assignment == name], students) for name in names]


def _assignment(name: str, reports: list[Report], students: list[str]) -> AssignmentRate:
    graded = [report for report in reports if report.status == "graded"]
    scores = [report.score for report in graded]
    return AssignmentRate(
        name=name,
        max_score=max(report.max_score for report in reports),
        graded=len(graded),
        failed=len(reports) - len(graded),
        mean=round(statistics.mean(scores), 2) if scores else None,
        median=round(statistics.median(scores), 2) if scores else None,
        lowest=min(scores, default=None),
        highest=max(scores, default=None),
        bins=_bins(graded),
        exercises=tuple(_exercises(graded)),
        mistakes=tuple(_mistakes(graded)),
        attention=tuple(_attention(reports, students)),
    )


def _bins(graded: list[Report]) -> tuple[int, ...]:
    shares = [report.score / report.max_score if report.max_score else 0.0 for report in graded]
    counts = Counter(min(BINS - 1, int(BINS * share + 1e-9)) for share in shares)
    return tuple(counts[i] for i in range(BINS))


def _exercises(graded: list[Report]) -> Iterator[ExerciseRate]:
    by_name: dict[str, list[ExerciseResult]] = {}
    for report in graded:
        for exercise in report.exercises:
            by_name.setdefault(exercise.name, []).append(exercise)
    for name, results in by_name.items():
        yield ExerciseRate(
            name=name,
            max_score=max(result.max_score for result in results),
            mean=round(statistics.mean(result.score for result in results), 2),
            full=sum(result.score == result.max_score for result in results),
            not_started=sum(not result.started for result in results),
            tests=tuple(_tests(results)),
        )


def _tests(results: list[ExerciseResult]) -> Iterator[TestRate]:
    found = [test for result in results for test in result.tests]
    for name, sentence in dict.fromkeys((test.name, test.sentence) for test in found):
        mine = [test for test in found if (test.name, test.sentence) == (name, sentence)]
        states = Counter(test.state for test in mine)
        stopped = sum(test.stopped for test in mine)
        yield TestRate(name, sentence, states["passed"], states["failed"], states["not known"], stopped)


def _mistakes(graded: list[Report]) -> Iterator[MistakeCount]:
    made = [e for report in graded for e in report.exercises if e.diagnosis]
    hints = {(e.diagnosis, e.name): e.hint for e in made}
    for (name, exercise), count in Counter((e.diagnosis, e.name) for e in made).most_common():
        yield MistakeCount(str(name), exercise, count, hints[name, exercise])


def _attention(reports: list[Report], students: list[str]) -> Iterator[Attention]:
    """Who could not be graded, has handed in nothing, has not started, or has code that gives no answer."""
    by_student = {report.student: report for report in reports}
    for student in students:
        if student not in by_student:
            yield Attention(student, "handed in other assignments, but not this one")
            continue
        reasons = list(_reasons(by_student[student]))
        if reasons:
            yield Attention(student, "; ".join(reasons))


def _reasons(report: Report) -> Iterator[str]:
    if report.reason:
        yield f"could not be graded: {report.reason}"
    undone = [exercise.name for exercise in report.exercises if not exercise.started]
    if undone:
        everything = len(undone) == len(report.exercises)
        yield "nothing started yet" if everything else f"not started: {', '.join(undone)}"
    stopped = [e.name for e in report.exercises if any(test.stopped for test in e.tests)]
    if stopped:
        yield f"code that loops, exits or crashes: {', '.join(stopped)}"
