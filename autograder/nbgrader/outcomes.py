"""What became of each submission of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbgrader.converters.base import NbGraderException

from autograder.nbgrader.course_changes import Move
from autograder.text import shown_name


@dataclass(frozen=True)
class SubmissionOutcome:
    """What became of one submission.

    reason: why it could not be graded
    no_feedback: why it has no feedback page
    unchanged: it was graded before, and not again
    moves: the marks that a change of the course moves; nothing was written if `held` is set
    """

    student: str
    assignment: str
    reason: str | None = None
    no_feedback: str | None = None
    unchanged: bool = False
    moves: tuple[Move, ...] = ()
    held: bool = False

    @property
    def moved(self) -> str:
        """The marks that a change of the course moves, as a text."""
        return ", ".join(map(str, self.moves))


def left_alone(assignment: str, count: int) -> str:
    """What to do about marks that a change of the course would move."""
    return (
        f"{assignment}: the course has changed, and {count} {'students' if count > 1 else 'student'} would get other "
        f"marks for the same work. Theirs are left as they were. `autograder regrade {assignment}` shows all of it, "
        "and `--write`, or `autograder grade --gradebook --accept-changes`, writes it"
    )


def taken_back(assignment: str, count: int) -> str:
    """How to undo that marks were moved."""
    subject = f"{count} {'students have' if count > 1 else 'student has'}"
    return (
        f"{assignment}: the course has changed, and {subject} other marks for the same work now. "
        f"`autograder regrade {assignment} --undo` takes that back"
    )


class NotAll(NbGraderException):
    """Some submissions could not be graded, or their marks are held; the outcomes name them."""


def report_failures(log: Any, assignment: str, outcomes: Sequence[SubmissionOutcome], read: int) -> None:
    """Log who could not be graded, and whose marks are held. Raises `NotAll` if there is anybody.

    read: how many submissions could be read
    """
    failed = [outcome for outcome in outcomes if outcome.reason]
    if failed:
        text = f"{len(failed)} of {len(failed) + read} submissions could not be graded"
        # Logged a second time, because the first time they are lost among the lines of a class.
        reasons = [f"  {shown_name(outcome.student)}: {outcome.reason}" for outcome in failed]
        log.error("%s:\n%s", text, "\n".join(reasons))
    held = [outcome for outcome in outcomes if outcome.held]
    for outcome in held:
        log.error("%s, %s: %s", shown_name(outcome.student), outcome.assignment, outcome.moved)
    if held:
        log.error("%s", left_alone(assignment, len(held)))
    if failed or held:
        raise NotAll(f"{len(failed) + len(held)} submissions are left")
