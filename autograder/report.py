"""One submission's result as values, from which gradebook, JSON, table and feedback page are made.

`autograder.task.read_message` refuses what a judge sends if it exceeds the bounds here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct, convert, structs

from autograder.course.assignments import Exercise
from cellcage.cell_result import CellResult as CellResult

MAX_TESTS = 200  # of an exercise; the largest suite has 20
MAX_MATRICES, MAX_SIDE = 16, 64  # of a picture
MAX_LINES = 8  # of the student's code, where an edit repairs it
Points = Annotated[float, Meta(ge=0)]
Names = Annotated[tuple[str, ...], Meta(max_length=MAX_TESTS)]
Labels = Annotated[tuple[str, ...], Meta(min_length=1, max_length=MAX_SIDE)]
Row = Annotated[tuple[float, ...], Meta(max_length=MAX_SIDE)]
Numbers = Annotated[tuple[Row, ...], Meta(max_length=MAX_SIDE)]
State = Literal["passed", "failed", "not known"]
Kind = Literal["known mistake", "relation", "place", "cells", "mention", "not produced"]
# Separators in a visible test's message.
ASKS, WENT_IN = " → ", " What went in: "


class TestMessage(Struct, frozen=True):
    """The parts of a visible test's message: what happened, a question, and the inputs, one text per argument."""

    happened: str
    question: str = ""
    went_in: Names = ()

    @property
    def inputs(self) -> str:
        """The inputs as one text; empty if they are not shown."""
        return f"{WENT_IN}{', '.join(f'`{one}`' for one in self.went_in)}." if self.went_in else ""

    def __str__(self) -> str:
        return self.happened + (f"{ASKS}{self.question}" if self.question else "") + self.inputs


class TestResult(Struct, frozen=True):
    """One test's outcome. The student reads `sentence`; `score` and `max_score` are points.

    stopped: the student's code gave no answer: a loop, an exit, a crash, too much memory
    parts: the parts of a visible test's `message`
    answer: the call that failed and a digest of its answer, which is the same for equal answers; empty without one
    """

    __test__ = False

    name: str
    sentence: str
    state: State
    score: Points
    max_score: Points
    message: str
    stopped: bool = False
    parts: TestMessage | None = None
    answer: str = ""

    def to_dict(self) -> dict[str, object]:
        """As in the command line's JSON."""
        found = structs.asdict(self) | {"passed": self.state == "passed"}
        del found["parts"]
        if not self.answer:
            del found["answer"]
        return found


class Picture(Struct, frozen=True):
    """What the student's function returned for a visible example: one or several matrices, with labels.

    wanted: the expected matrices, rounded to two digits; empty if the example does not state them
    """

    matrices: Annotated[tuple[Numbers, ...], Meta(min_length=1, max_length=MAX_MATRICES)]
    rows: Labels
    columns: Labels
    boolean: bool
    wanted: Annotated[tuple[Numbers, ...], Meta(max_length=MAX_MATRICES)] = ()

    def __post_init__(self) -> None:
        sides = len(self.rows), {len(self.columns)}
        if any((len(one), set(map(len, one))) != sides for one in (*self.matrices, *self.wanted)):
            raise ValueError("a picture's numbers do not go with its labels")


class Finding(Struct, frozen=True):
    """One thing that explains an exercise's mark and cannot change it.

    kind: a known mistake that gives exactly the student's answers, or a relation of these to the right ones; a place
        where one small edit makes all tests pass, or only some of them if it is not certain; words on the notebook's
        cells; a mention of a ready-made function of which no call was noticed; or what the grader could not produce
    name: of the mistake, the relation, the edit or the function; what was not produced, and why
    evidence: how it is known, in sentences
    hint: what the student is asked
    is_certain: it explains all that is wrong, and nothing else does; if not, the tests still ask their own questions
    lines: of a place, counted from 1 in the cell; code: the first of them; part: what to look at there, empty if only
        the line is shown; repaired: the lines after the edit, for the person who grades; students never see it
    """

    kind: Kind
    name: str = ""
    evidence: str = ""
    hint: str = ""
    is_certain: bool = True
    lines: Annotated[tuple[int, ...], Meta(max_length=MAX_LINES)] = ()
    code: str = ""
    part: str = ""
    repaired: str = ""

    def __post_init__(self) -> None:
        if self.kind == "place" and not self.lines:
            raise ValueError("a place without a line")

    @property
    def where(self) -> str:
        """A place in words, with its question."""
        lines = [str(line) for line in self.lines]
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines[:-1])} and {lines[-1]}"
        return f"Look at {where}, `{self.part or self.code}`: {self.hint}"


class ExerciseResult(Struct, frozen=True):
    """One exercise's outcome.

    with_reference: earlier exercises that the reference replaced here, so that an early mistake is deducted once
    withdrawn: the course has withdrawn it, so everybody gets full points whatever the tests say
    findings: what explains the mark
    """

    name: str
    tests: Annotated[tuple[TestResult, ...], Meta(max_length=MAX_TESTS)]
    max_score: float
    started: bool = True
    with_reference: Names = ()
    picture: Picture | None = None
    withdrawn: bool = False
    findings: Annotated[tuple[Finding, ...], Meta(max_length=MAX_TESTS)] = ()

    def of(self, *kinds: Kind) -> list[Finding]:
        """The findings of these kinds."""
        return [one for one in self.findings if one.kind in kinds]

    def first(self, *kinds: Kind) -> Finding | None:
        """The first finding of these kinds."""
        return next(iter(self.of(*kinds)), None)

    def adding(self, *findings: Finding) -> ExerciseResult:
        """The result with more findings."""
        return structs.replace(self, findings=(*self.findings, *findings))

    @property
    def cause(self) -> Finding | None:
        """The known mistake or the relation, if one has a name."""
        return next((one for one in self.of("known mistake", "relation") if one.name), None)

    @property
    def diagnosis(self) -> str | None:
        """The cause's name; None if no cause is known."""
        return self.cause.name if self.cause else None

    @property
    def evidence(self) -> str:
        """How the cause is known; why its cell did not run; which of several cells that define it counts."""
        found = self.of("known mistake", "relation", "cells")
        return " ".join(one.evidence for one in found if one.evidence)

    @property
    def hint(self) -> str:
        """What a known mistake or a relation asks."""
        found = self.first("known mistake", "relation")
        return found.hint if found else ""

    @property
    def where(self) -> list[str]:
        """Where the student should look, in words."""
        return [place.where for place in self.of("place")]

    @property
    def correction(self) -> str:
        """The line that repairs the code, in words for the person who grades; empty if none is known."""
        places = [place for place in self.of("place") if place.is_certain]
        return "".join(f"line {place.lines[0]} as `{place.repaired}`" for place in places[:1])

    @property
    def remarks(self) -> list[str]:
        """What a person should know about how it was graded, in words for the middle of a sentence."""
        words = {
            "mention": "the cell mentions the ready-made {}, but no call of it was noticed. A person should look at it",
            "not produced": "the grader could not produce {}",
        }
        names = {kind: ", ".join(one.name for one in self.findings if one.kind == kind) for kind in words}
        return [words[kind].format(named) for kind, named in names.items() if named]

    @property
    def begun(self) -> bool:
        """True if it was started, or if what the student wrote does not run, such as for a syntax error."""
        return self.started or bool(self.evidence)

    @property
    def is_full(self) -> bool:
        """True if no test costs points: every test passed, or the exercise is withdrawn."""
        return self.withdrawn or all(test.state == "passed" for test in self.tests)

    def counted_as(self, exercise: Exercise) -> ExerciseResult:
        """The result as the course counts it, whatever the judge says: an exercise may be worth nothing."""
        result = self
        if not exercise.points:
            tests = tuple(structs.replace(test, score=0.0, max_score=0.0) for test in self.tests)
            result = structs.replace(self, tests=tests, max_score=0.0)
        return structs.replace(result, withdrawn=exercise.withdrawn)

    @property
    def score(self) -> float:
        """Points earned; all of them if every test passed."""
        if self.is_full:
            return self.max_score
        if len(self.tests) == 1:  # not rounded: a cell of nbgrader's tests may give a third of a point
            return self.tests[0].score
        return min(self.max_score, round(sum(test.score for test in self.tests), 2))

    def to_dict(self) -> dict[str, object]:
        """As in the command line's JSON."""
        found: dict[str, object] = {
            "name": self.name,
            "score": self.score,
            "max_score": self.max_score,
            "started": self.started,
            "diagnosis": self.diagnosis,
            "evidence": self.evidence,
            "known_mistake": self.first("known mistake") is not None,
            "hint": self.hint,
            "with_reference": list(self.with_reference),
            "tests": [test.to_dict() for test in self.tests],
        }
        if self.withdrawn:
            found["withdrawn"] = True
        if missing := self.of("not produced"):
            found["not_produced"] = [one.name for one in missing]
        if place := self.first("place"):
            found["location"] = {
                "lines": list(place.lines),
                "code": place.code,
                "part": place.part,
                "kind": place.name,
                "question": place.hint,
                "repaired": place.repaired,
                "line": place.lines[0],
                "is_certain": place.is_certain,
            }
        if mentioned := self.of("mention"):
            found["mentions"] = [one.name for one in mentioned]
        return found


class Verdict(Struct, frozen=True):
    """A judge's verdict on a submission: exercises, and the result of each cell."""

    exercises: tuple[ExerciseResult, ...]
    cells: tuple[CellResult, ...] = ()


class Report(Struct, frozen=True):
    """One submission of one assignment: graded, or failed with a reason.

    notices: sentences on what was handed in, such as files with work in them that were not graded
    """

    student: str
    assignment: str
    exercises: tuple[ExerciseResult, ...] = ()
    max_score: float = 0.0
    reason: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["graded", "failed"]:
        """`failed` if there is a reason."""
        return "failed" if self.reason else "graded"

    @property
    def score(self) -> float:
        """Points earned in all exercises."""
        return round(sum(exercise.score for exercise in self.exercises), 2)

    def to_dict(self) -> dict[str, object]:
        """As in the command line's JSON."""
        found: dict[str, object] = {
            "student": self.student,
            "assignment": self.assignment,
            "status": self.status,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [exercise.to_dict() for exercise in self.exercises],
        }
        if self.notices:
            found["notices"] = list(self.notices)
        return found | ({"reason": self.reason} if self.reason else {})


def report_of(entry: dict[str, object]) -> Report:
    """The report that `Report.to_dict` was made from. Raises `ValueError` that names an invalid key."""
    report = convert(entry, Report)
    explained = convert(entry, _Explained).exercises
    exercises = tuple(one.adding(*_findings(keys)) for one, keys in zip(report.exercises, explained, strict=True))
    failed = entry.get("status") == "failed" and not report.reason
    return structs.replace(report, exercises=exercises, reason="no reason given" if failed else report.reason)


class _Keys(Struct):
    """The keys of an exercise's entry that `ExerciseResult.to_dict` makes of findings."""

    diagnosis: str | None
    hint: str = ""
    evidence: str = ""
    known_mistake: bool = False
    not_produced: tuple[str, ...] = ()
    location: dict[str, object] | None = None
    mentions: tuple[str, ...] = ()


class _Explained(Struct):
    exercises: tuple[_Keys, ...] = ()


def _findings(keys: _Keys) -> Iterator[Finding]:
    if keys.diagnosis or keys.hint:
        kind: Kind = "known mistake" if keys.known_mistake or not keys.evidence else "relation"
        yield Finding(kind, keys.diagnosis or "", keys.evidence, keys.hint)
    elif keys.evidence:
        yield Finding("cells", evidence=keys.evidence)
    yield from (Finding("not produced", name) for name in keys.not_produced)
    if one := keys.location:
        names = {"kind": "place", "name": one.get("kind", ""), "hint": one.get("question", "")}
        yield convert({**one, **names}, Finding)
    yield from (Finding("mention", name) for name in keys.mentions)
