"""Statistics of a class as values, from which the report's page, tables and terminal view are made."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autograder.report import ExerciseResult, Finding, Report
from autograder.reports.roster import NOTHING

LOW = 0.5  # of the points: students with less who started every exercise need attention
FEW = 5  # with fewer students, a correlation says nothing
FEWEST = 3  # students who share an answer; fewer may have worked together
BINS = 10  # of the distribution of marks: tenths of the maximum

Causes = Mapping[str, Mapping[str, list[str]]]  # students by cause and exercise


@dataclass(frozen=True)
class TestRate:
    """One test over the class. `stopped` counts the failures in which the code gave no answer."""

    __test__ = False

    name: str
    sentence: str
    passed: int
    failed: int
    not_known: int
    stopped: int

    @property
    def share(self) -> float:
        """The share that passed, 0 to 1, without students for whom it is not known."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else 0.0


@dataclass(frozen=True)
class MistakeCount:
    """A cause in one exercise, or what stands where an edit repairs it, and the students who have it.

    again: how many of them have it in another exercise, such as `("row_centred", 9)`
    """

    name: str
    exercise: str
    count: int
    hint: str
    students: tuple[str, ...]
    again: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Alike:
    """Students whose failed tests have the same messages, and for whom no cause is known."""

    exercise: str
    count: int
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseRate:
    """One exercise over the students who started it.

    mean: in points
    full: how many students have full points
    deviation: standard deviation of the points; None for fewer than two students
    discrimination: correlation of its points with those of all other exercises, -1 to 1. Near 0 or below, students who
        are good at the rest are no better here. None if it is undefined.
    """

    name: str
    max_score: float
    mean: float
    full: int
    started: int
    not_started: int
    tests: tuple[TestRate, ...]
    deviation: float | None
    discrimination: float | None

    @property
    def share(self) -> float:
        """The mean as a share of the maximum, 0 to 1."""
        return self.mean / self.max_score if self.max_score else 0.0


@dataclass(frozen=True)
class Attention:
    """A student who needs attention, and why."""

    student: str
    why: str


@dataclass(frozen=True)
class AssignmentRate:
    """One assignment over the class. Marks include only graded submissions.

    shared: answers that most good students give, and the model answer does not
    """

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
    shared: tuple[SharedAnswer, ...]

    def to_dict(self) -> dict[str, Any]:
        """The assignment in the report's JSON."""
        found = asdict(self)
        for exercise, values in zip(self.exercises, found["exercises"], strict=True):
            values["share"] = round(exercise.share, 4)
            for test, test_values in zip(exercise.tests, values["tests"], strict=True):
                test_values["share"] = round(test.share, 4)
        return found


def bin_names() -> list[str]:
    """The range of each bin of the distribution, in percent."""
    step = 100 // BINS
    return [f"{step * i} to {step * (i + 1)} %" for i in range(BINS)]


def class_statistics(reports: Sequence[Report], roster: Sequence[str] = ()) -> list[AssignmentRate]:
    """Each assignment's statistics, in order of names.

    roster: everybody in the class, including students without submissions
    """
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
        shared=tuple(shared_answers(graded)),
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
        begun = [(result.score, rest) for result, rest in found if result.begun]
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
    """Correlation of an exercise's points with the rest; None if one is constant, or there are too few students."""
    if len(pairs) < FEW:
        return None
    try:
        return round(statistics.correlation(*zip(*pairs, strict=True)), 2)
    except statistics.StatisticsError:
        return None


def _tests(exercises: list[ExerciseResult]) -> Iterator[TestRate]:
    found = [test for exercise in exercises for test in exercise.tests]
    for name, sentence in dict.fromkeys((test.name, test.sentence) for test in found):
        results_of_test = [test for test in found if (test.name, test.sentence) == (name, sentence)]
        states = Counter(test.state for test in results_of_test)
        stopped = sum(test.stopped for test in results_of_test)
        yield TestRate(name, sentence, states["passed"], states["failed"], states["not known"], stopped)


def _causes(reports: Sequence[Report]) -> Causes:
    """The students by cause and exercise."""
    found: dict[str, dict[str, list[str]]] = {}
    for report in reports:
        for exercise in report.exercises if report.status == "graded" else ():
            if cause := exercise.cause:
                found.setdefault(cause.name, {}).setdefault(exercise.name, []).append(report.student)
    return found


def _mistakes(graded: list[Report], causes: Causes) -> Iterator[MistakeCount]:
    here = dict.fromkeys(exercise.name for report in graded for exercise in report.exercises)
    hints = {(e.cause.name, e.name): e.hint for report in graded for e in report.exercises if e.cause}
    found = [
        MistakeCount(
            name, exercise, len(students), hints[name, exercise], tuple(students), _again(by_exercise, exercise)
        )
        for name, by_exercise in causes.items()
        for exercise, students in by_exercise.items()
        if exercise in here
    ]
    yield from sorted([*found, *_places(graded)], key=lambda mistake: -mistake.count)


def _places(graded: list[Report]) -> Iterator[MistakeCount]:
    """Students without a known mistake, by the kind of edit that repairs their code."""
    found: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for report in graded:
        for e in report.exercises:
            for place in [] if e.first("known mistake") else e.of("place"):
                found.setdefault((e.name, place.name), []).append((report.student, place))
    for (exercise, kind), places in found.items():
        ((line, _),) = Counter(place.lines[0] for _, place in places).most_common(1)
        students = tuple(student for student, _ in places)
        yield MistakeCount(f"{kind} in line {line}", exercise, len(places), places[0][1].hint, students)


def _again(by_exercise: Mapping[str, list[str]], exercise: str) -> tuple[tuple[str, int], ...]:
    """Other exercises with the same cause, each with how many of this exercise's students have it there."""
    students = set(by_exercise[exercise])
    counts = {other: len(students.intersection(found)) for other, found in by_exercise.items() if other != exercise}
    return tuple((other, count) for other, count in counts.items() if count)


def _alike(graded: list[Report]) -> Iterator[Alike]:
    """Groups of two or more who fail the same tests with the same messages and without a known cause or place."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for report in graded:
        for e in report.exercises:
            failed = tuple((test.name, test.message) for test in e.tests if test.state == "failed")
            if failed and not e.diagnosis and not e.first("place"):
                found.setdefault((e.name, failed), []).append(report.student)
    for (exercise, failed), students in sorted(found.items(), key=lambda group: -len(group[1])):
        if len(students) > 1:
            yield Alike(exercise, len(students), failed[0][1], tuple(students))


def _attention(reports: list[Report], students: list[str], active: set[str]) -> Iterator[Attention]:
    """Students without a graded submission, with exercises not started, with few points, or with unresponsive code."""
    by_student = {report.student: report for report in reports}
    for student in students:
        if student not in by_student:
            elsewhere = "handed in other assignments, but not this one"
            yield Attention(student, elsewhere if student in active else NOTHING)
        elif reasons := list(_reasons(by_student[student])):
            yield Attention(student, "; ".join(reasons))


def _reasons(report: Report) -> Iterator[str]:
    if report.reason:
        yield f"could not be graded: {report.reason}"
    not_started = [exercise.name for exercise in report.exercises if not exercise.begun]
    if not_started:
        everything = len(not_started) == len(report.exercises)
        yield "no exercise started yet" if everything else f"not started: {', '.join(not_started)}"
    elif report.exercises and report.score < LOW * report.max_score:
        yield f"started everything, and has {report.score:g} of {report.max_score:g} points"
    if broken := [exercise.name for exercise in report.exercises if exercise.begun and not exercise.started]:
        yield f"a cell that does not run: {', '.join(broken)}"
    stopped = [e.name for e in report.exercises if any(test.stopped for test in e.tests)]
    if stopped:
        yield f"code that loops, exits or crashes: {', '.join(stopped)}"


# ---------------------------------------------------------------- is the model answer wrong?


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
    """Signs that a model answer is wrong: most who get everything else right give one and the same other answer."""
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
        if count < FEWEST or is_whole or not tests or not all(answer for _, answer in tests):
            continue
        right_elsewhere = sum(others <= names for others in lost)
        if 2 * count > right_elsewhere:
            test, answer = tests[0]
            call, _, _ = answer.rpartition(" ")
            yield SharedAnswer(assignment, results[0].name, test, call, count, right_elsewhere)
