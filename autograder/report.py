"""One submission's result, as values: what the gradebook, the JSON, the table and the feedback page are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

Numbers = tuple[tuple[float, ...], ...]
State = Literal["passed", "failed", "not known"]
# Between the parts of a visible test's message.
ASKS, WENT_IN = " → ", " What went in: "


class CellResult(Struct, frozen=True):
    """What running one cell gave: printed text, an exception (kind, text, the student's own lines), why it was stopped.

    lines: each (function, number in the cell, text)
    ran_out_of_time: was it stopped, or interrupted, because it took too long?
    """

    printed: str = ""
    error: str = ""
    text: str = ""
    lines: tuple[tuple[str, int, str], ...] = ()
    stopped: str | None = None
    ran_out_of_time: bool = False


class Message(Struct, frozen=True):
    """A visible test's message in its parts: what happened, a question, and what went in, one text an argument."""

    happened: str
    question: str = ""
    went_in: tuple[str, ...] = ()

    @property
    def inputs(self) -> str:
        """What went in, as one text; empty if nothing is told of it."""
        return f"{WENT_IN}{', '.join(f'`{one}`' for one in self.went_in)}." if self.went_in else ""

    def __str__(self) -> str:
        return self.happened + (f"{ASKS}{self.question}" if self.question else "") + self.inputs


class TestResult(Struct, frozen=True):
    """One test's outcome. `sentence` is what the student reads; `score` and `max_score` are points.

    `stopped` is set if the student's code gave no answer: a loop, an exit, a crash, too much memory. `parts` are those
    of a visible test's `message`.
    """

    __test__ = False

    name: str
    sentence: str
    state: State
    score: float
    max_score: float
    message: str
    stopped: bool = False
    parts: Message | None = None

    def to_dict(self) -> dict[str, object]:
        """As in the command line's JSON."""
        found = structs.asdict(self) | {"passed": self.state == "passed"}
        del found["parts"]
        return found


class Picture(Struct, frozen=True):
    """What the student's function gave on a visible example: one matrix or several, with labels.

    `wanted`: what the example asks for, in two digits; none where it is not said.
    """

    matrices: tuple[Numbers, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    boolean: bool
    wanted: tuple[Numbers, ...] = ()


class Cause(Struct, frozen=True):
    """One thing that is wrong: its name, and what to think about next."""

    name: str
    hint: str


class ExerciseResult(Struct, frozen=True):
    """One exercise's outcome.

    `with_reference` names earlier exercises whose reference stood behind the student's code here, so that an
    early mistake is paid for once. `causes` are what is wrong: mistakes whose answers the student's equal, or
    relations to the right ones. `evidence` says by what that is known. `known_mistake` is set if a mistake is among the
    causes, and not relations alone. `withdrawn` is set if the course has withdrawn it: then everybody gets its points,
    whatever the tests say.
    """

    name: str
    tests: tuple[TestResult, ...]
    max_score: float
    started: bool = True
    causes: tuple[Cause, ...] = ()
    with_reference: tuple[str, ...] = ()
    picture: Picture | None = None
    evidence: str = ""
    withdrawn: bool = False
    known_mistake: bool = False

    @property
    def diagnosis(self) -> str | None:
        """The causes' names, joined by `+`; None if nothing can be told."""
        return joined_names(self.causes) or None

    @property
    def hint(self) -> str:
        """What to think about next, of all causes; empty without one."""
        return joined_hints(self.causes)

    @property
    def score(self) -> float:
        """Points earned; all of them when every test passed."""
        if self.withdrawn or all(test.state == "passed" for test in self.tests):
            return self.max_score
        if len(self.tests) == 1:  # a test cell of nbgrader's may give a third
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
        if len(self.causes) > 1:
            found["causes"] = [structs.asdict(cause) for cause in self.causes]
        return found


def joined_names(causes: Sequence[Cause]) -> str:
    """`one-too-many+off-by-two`: the names of causes in one."""
    return "+".join(cause.name for cause in causes)


def joined_hints(causes: Sequence[Cause]) -> str:
    """The hints of causes in one."""
    return " And: ".join(cause.hint for cause in causes)


class Verdict(Struct, frozen=True):
    """What a judge gives back on a submission: exercises, what running each cell gave, a sentence beside the marks."""

    exercises: tuple[ExerciseResult, ...]
    cells: tuple[CellResult, ...] = ()
    extra: str = ""


class Report(Struct, frozen=True):
    """One submission of one assignment: graded, or failed with a reason.

    `extra` is a sentence on what brings no points, such as a saved model; empty if there is nothing to say.
    """

    student: str
    assignment: str
    exercises: tuple[ExerciseResult, ...] = ()
    max_score: float = 0.0
    reason: str | None = None
    extra: str = ""

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
        result: dict[str, object] = {
            "student": self.student,
            "assignment": self.assignment,
            "status": self.status,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [exercise.to_dict() for exercise in self.exercises],
        }
        if self.reason:
            result["reason"] = self.reason
        if self.extra:
            result["extra"] = self.extra
        return result
