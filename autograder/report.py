"""One submission's result as values, from which gradebook, JSON, table and feedback page are made.

`autograder.worker.verdict` refuses what a judge sends if it exceeds the bounds here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from cellcage.cell_result import CellResult as CellResult

MAX_TESTS = 200  # of an exercise; the largest suite has 20
MAX_NOT_PRODUCED = 8  # of an exercise; there are never more than two or three
MAX_MATRICES, MAX_SIDE = 16, 64  # of a picture
MAX_LINES = 8  # of the student's code, where an edit repairs it
Points = Annotated[float, Meta(ge=0)]
Names = Annotated[tuple[str, ...], Meta(max_length=MAX_TESTS)]
Labels = Annotated[tuple[str, ...], Meta(min_length=1, max_length=MAX_SIDE)]
Row = Annotated[tuple[float, ...], Meta(max_length=MAX_SIDE)]
Numbers = Annotated[tuple[Row, ...], Meta(max_length=MAX_SIDE)]
State = Literal["passed", "failed", "not known"]
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


class Location(Struct, frozen=True):
    """A place in a student's cell where one small edit makes all tests pass.

    lines: counted from 1 in the cell; code: the first of them; part: what to look at there, empty if only the line is
    shown; kind: of the edit; question: what the student is asked
    repaired: the lines after the edit, for the person who grades; students never see it
    """

    lines: Annotated[tuple[int, ...], Meta(min_length=1, max_length=MAX_LINES)]
    code: str
    part: str
    kind: str
    question: str
    repaired: str

    def __str__(self) -> str:
        lines = [str(line) for line in self.lines]
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines[:-1])} and {lines[-1]}"
        return f"Look at {where}, `{self.part or self.code}`: {self.question}"

    def to_dict(self) -> dict[str, object]:
        """As in the command line's JSON."""
        return structs.asdict(self) | {"lines": list(self.lines), "line": self.lines[0]}


class Cause(Struct, frozen=True):
    """One thing that is wrong: its name, and a hint on what to think about next."""

    name: str
    hint: str


class ExerciseResult(Struct, frozen=True):
    """One exercise's outcome.

    cause: a known mistake that gives exactly the student's answers, or a relation to the right answers
    with_reference: earlier exercises that the reference replaced here, so that an early mistake is deducted once
    evidence: how the cause is known; why its cell did not run; which of several cells that define it counts
    withdrawn: the course has withdrawn it, so everybody gets full points whatever the tests say
    known_mistake: the cause is a known mistake, not a relation
    not_produced: output the grader could not produce for this exercise, and why; the mark does not depend on it
    mentions: ready-made functions that its cell mentions; no call was noticed, so the mark does not depend on it
    """

    name: str
    tests: Annotated[tuple[TestResult, ...], Meta(max_length=MAX_TESTS)]
    max_score: float
    started: bool = True
    cause: Cause | None = None
    with_reference: Names = ()
    picture: Picture | None = None
    evidence: str = ""
    withdrawn: bool = False
    known_mistake: bool = False
    not_produced: Annotated[tuple[str, ...], Meta(max_length=MAX_NOT_PRODUCED)] = ()
    mentions: Names = ()
    location: Location | None = None

    @property
    def diagnosis(self) -> str | None:
        """The cause's name; None if no cause is known."""
        return (self.cause and self.cause.name) or None

    @property
    def hint(self) -> str:
        """The cause's hint; empty without a cause."""
        return self.cause.hint if self.cause else ""

    @property
    def score(self) -> float:
        """Points earned; all of them if every test passed."""
        if self.withdrawn or all(test.state == "passed" for test in self.tests):
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
            "known_mistake": self.known_mistake,
            "hint": self.hint,
            "with_reference": list(self.with_reference),
            "tests": [test.to_dict() for test in self.tests],
        }
        if self.withdrawn:
            found["withdrawn"] = True
        if self.not_produced:
            found["not_produced"] = list(self.not_produced)
        if self.location:
            found["location"] = self.location.to_dict()
        if self.mentions:
            found["mentions"] = list(self.mentions)
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
