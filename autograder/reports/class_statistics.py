"""How a class is doing, as values: what the report's page, tables and terminal view are made of."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autograder.report import ExerciseResult, Report
from autograder.reports.roster import NOTHING

LOW = 0.5  # of the points: who started everything and has less needs another word than the tests'
FEW = 5  # from so many students on a correlation says something
BINS = 10  # the distribution of marks goes by tenths of what can be earned


Causes = Mapping[str, Mapping[str, list[str]]]  # by name and exercise, the students


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
        """Passed, of those with something to judge, 0 to 1; who has not started counts nowhere."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else 0.0


@dataclass(frozen=True)
class MistakeCount:
    """A cause, who had it, and how many of these have it elsewhere, too.

    again: pairs of an exercise and a count, such as `("row_centred", 9)`
    """

    name: str
    exercise: str
    count: int
    hint: str
    students: tuple[str, ...] = ()
    again: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Alike:
    """Answers that are wrong in the same way, to the word, and equal no known mistake's; who gave them."""

    exercise: str
    count: int
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseRate:
    """One exercise over those who started it; `mean` in points, `full` how many have all of them.

    deviation: of the points, standard deviation of the class; None for less than two
    discrimination: correlation of its points with those of all other exercises, -1 to 1: near 0 or below, who is good
        at the rest is no better here; None if it cannot be told
    """

    name: str
    max_score: float
    mean: float
    full: int
    started: int
    not_started: int
    tests: tuple[TestRate, ...]
    deviation: float | None = None
    discrimination: float | None = None

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
    alike: tuple[Alike, ...]
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


def class_statistics(reports: Sequence[Report], roster: Sequence[str] = ()) -> list[AssignmentRate]:
    """Each assignment's statistics, in the assignments' order of names. `roster` names who else is in the class."""
    students = list(dict.fromkeys([*(report.student for report in reports), *roster]))
    names = sorted({report.assignment for report in reports})
    active, causes = {report.student for report in reports}, _causes(reports)
    return [_assignment(name, [r for r in reports if r.assignment == name], students, active, causes) for name in names]


def _assignment(
    name: str, reports: list[Report], students: list[str], active: set[str], causes: Causes
) -> AssignmentRate:
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
        mistakes=tuple(_mistakes(graded, causes)),
        alike=tuple(_alike(graded)),
        attention=tuple(_attention(reports, students, active)),
    )


def _bins(graded: list[Report]) -> tuple[int, ...]:
    shares = [report.score / report.max_score if report.max_score else 0.0 for report in graded]
    counts = Counter(min(BINS - 1, int(BINS * share + 1e-9)) for share in shares)
    return tuple(counts[i] for i in range(BINS))


def _exercises(graded: list[Report]) -> Iterator[ExerciseRate]:
    by_name: dict[str, list[tuple[ExerciseResult, float]]] = {}
    for report in graded:
        for exercise in report.exercises:
            by_name.setdefault(exercise.name, []).append((exercise, report.score - exercise.score))
    for name, found in by_name.items():
        results = [result for result, _ in found]
        begun = [(result.score, rest) for result, rest in found if result.started]
        scores = [score for score, _ in begun]
        yield ExerciseRate(
            name=name,
            max_score=max(result.max_score for result in results),
            mean=round(statistics.mean(scores), 2) if scores else 0.0,
            full=sum(result.score == result.max_score for result in results),
            started=len(begun),
            not_started=len(results) - len(begun),
            tests=tuple(_tests(results)),
            deviation=round(statistics.stdev(scores), 2) if len(scores) > 1 else None,
            discrimination=_correlation(begun),
        )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Of an exercise's points with the rest's; None if one of them does not vary, or there are too few."""
    if len(pairs) < FEW:
        return None
    try:
        return round(statistics.correlation(*zip(*pairs, strict=True)), 2)
    except statistics.StatisticsError:
        return None


def _tests(results: list[ExerciseResult]) -> Iterator[TestRate]:
    found = [test for result in results for test in result.tests]
    for name, sentence in dict.fromkeys((test.name, test.sentence) for test in found):
        mine = [test for test in found if (test.name, test.sentence) == (name, sentence)]
        states = Counter(test.state for test in mine)
        stopped = sum(test.stopped for test in mine)
        yield TestRate(name, sentence, states["passed"], states["failed"], states["not known"], stopped)


def _causes(reports: Sequence[Report]) -> Causes:
    """Who had which cause where. A diagnosis of two counts for both."""
    found: dict[str, dict[str, list[str]]] = {}
    for report in reports:
        for exercise in report.exercises if report.status == "graded" else ():
            for cause in exercise.causes:
                found.setdefault(cause.name, {}).setdefault(exercise.name, []).append(report.student)
    return found


def _mistakes(graded: list[Report], causes: Causes) -> Iterator[MistakeCount]:
    here = dict.fromkeys(exercise.name for report in graded for exercise in report.exercises)
    hints = {(cause.name, e.name): cause.hint for report in graded for e in report.exercises for cause in e.causes}
    found = [
        MistakeCount(name, exercise, len(who), hints[name, exercise], tuple(who), tuple(_again(where, exercise, who)))
        for name, where in causes.items()
        for exercise, who in where.items()
        if exercise in here
    ]
    yield from sorted(found, key=lambda one: -one.count)


def _again(where: Mapping[str, list[str]], exercise: str, who: list[str]) -> Iterator[tuple[str, int]]:
    """Other exercises in which some of the same students had the same cause."""
    for other, students in where.items():
        count = len(set(who).intersection(students)) if other != exercise else 0
        if count:
            yield other, count


def _alike(graded: list[Report]) -> Iterator[Alike]:
    """Two or more who fail the same tests of an exercise with the same words, and whose mistake has no name."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for report in graded:
        for e in report.exercises:
            failed = tuple((test.name, test.message) for test in e.tests if test.state == "failed")
            if failed and not e.diagnosis:
                found.setdefault((e.name, failed), []).append(report.student)
    for (exercise, failed), students in sorted(found.items(), key=lambda one: -len(one[1])):
        if len(students) > 1:
            yield Alike(exercise, len(students), failed[0][1], tuple(students))


def _attention(reports: list[Report], students: list[str], active: set[str]) -> Iterator[Attention]:
    """Who could not be graded, has handed in nothing, has not started, or has code that gives no answer."""
    by_student = {report.student: report for report in reports}
    for student in students:
        if student not in by_student:
            elsewhere = "handed in other assignments, but not this one"
            yield Attention(student, elsewhere if student in active else NOTHING)
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
    tried = bool(report.exercises) and not undone
    if tried and report.score < LOW * report.max_score:
        yield f"started everything, and has {report.score:g} of {report.max_score:g} points"
    stopped = [e.name for e in report.exercises if any(test.stopped for test in e.tests)]
    if stopped:
        yield f"code that loops, exits or crashes: {', '.join(stopped)}"
