"""One submission's result, as values: what the gradebook, the JSON, the table and the feedback page are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Numbers = tuple[tuple[float, ...], ...]
State = Literal["passed", "failed", "not known"]
OUT_OF_TIME = "it ran out of time and was stopped"  # why a cell was stopped


@dataclass(frozen=True)
class CellResult:
    """What running one cell gave: printed text, an exception (kind, text, the student's own lines), why it was stopped.

    A line is (function, number in the cell, text).
    """

    printed: str = ""
    error: str = ""
    text: str = ""
    lines: tuple[tuple[str, int, str], ...] = ()
    stopped: str | None = None

    @property
    def ran_out_of_time(self) -> bool:
        """Was it stopped, or interrupted, because it took too long?"""
        return self.error == "KeyboardInterrupt" or self.stopped == OUT_OF_TIME


@dataclass(frozen=True)
class TestResult:
    """One test's outcome. `sentence` is what the student reads; `score` and `max_score` are points.

    `stopped` is set if the student's code gave no answer: a loop, an exit, a crash, too much memory.
    """

    __test__ = False

    name: str
    sentence: str
    state: State
    score: float
    max_score: float
    message: str
    stopped: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As in the command line's JSON."""
        return vars(self) | {"passed": self.state == "passed"}


@dataclass(frozen=True)
class Picture:
    """What the student's function gave on a visible example: one matrix or several, with labels.

    `wanted`: what the example asks for, in two digits; none where it is not said.
    """

    matrices: tuple[Numbers, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    boolean: bool
    wanted: tuple[Numbers, ...] = ()


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise's outcome.

    `with_reference` names earlier exercises whose reference stood behind the student's code here, so that an
    early mistake is paid for once. `diagnosis` is the name of what is wrong: a mistake whose answers the student's
    equal, or a relation to the right ones. `evidence` says by what it is known, `hint` what to think about next.
    """

    name: str
    tests: tuple[TestResult, ...]
    max_score: float
    started: bool = True
    diagnosis: str | None = None
    hint: str = ""
    with_reference: tuple[str, ...] = ()
    picture: Picture | None = None
    evidence: str = ""

    @property
    def score(self) -> float:
        """Points earned; all of them when every test passed."""
        if all(test.state == "passed" for test in self.tests):
            return self.max_score
        return min(self.max_score, round(sum(test.score for test in self.tests), 2))

    def to_dict(self) -> dict[str, Any]:
        """As in the command line's JSON."""
        return {
            "name": self.name,
            "score": self.score,
            "max_score": self.max_score,
            "started": self.started,
            "diagnosis": self.diagnosis,
            "evidence": self.evidence,
            "hint": self.hint,
            "with_reference": list(self.with_reference),
            "tests": [test.to_dict() for test in self.tests],
        }


@dataclass(frozen=True)
class Verdict:
    """What a judge gives back on a submission: exercises, what running each cell gave, a sentence beside the marks."""

    exercises: tuple[ExerciseResult, ...]
    cells: tuple[CellResult, ...] = ()
    extra: str = ""


@dataclass(frozen=True)
class Report:
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

    def to_dict(self) -> dict[str, Any]:
        """As in the command line's JSON."""
        result: dict[str, Any] = {
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
