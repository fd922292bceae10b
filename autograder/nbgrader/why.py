"""How a mark came about: its history in a few lines, and what the tests said about the submission."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.course.assignments import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader import history
from autograder.nbgrader.outcomes import SMALL
from autograder.nbgrader.totals import assign_penalties, still_open
from autograder.report import Report
from autograder.reports.rubric import points
from autograder.reports.store import Entry, Store
from autograder.text import shown_name

EVENTS, EXERCISES = 4, 4  # lines of each that are shown


def lines(assignment: Assignment, nbgrader: Any, student: str) -> tuple[list[str], bool]:
    """At most ten lines about a mark, and False if the gradebook has another mark than the stored report.

    Raises `AutograderError` if there is no history of the student, such as one that was forgotten.
    """
    coursedir, root = nbgrader.coursedir, Path(nbgrader.coursedir.root)
    assign_penalties(nbgrader, assignment)
    if not (store := Store(root)).entries(assignment.name, student):
        raise AutograderError(f"there is no history of {shown_name(student)} in {assignment.name}")
    history.record(coursedir, assignment.name, student, history.BY_HAND)  # what was entered in some other way
    known = store.entries(assignment.name, student)[student]
    now = known[-1]
    basis = history.Basis.of(coursedir, assignment)
    report = store.report(assignment.name, student, now.made)
    other = [one.name for one in report.exercises if not _agrees(one.name, one.score, now)] if report else []
    late = f", {points(now.penalty)} of them lost for being late" if now.penalty else ""
    most = sum(basis.points.values())  # also of what nobody has graded yet
    head = f"{shown_name(student)}, {assignment.name}: {points(now.score)} of {points(most)} points{late}"
    head = "; ".join(filter(None, (head, _still_open(coursedir, assignment, student))))
    last = _about(report, now, other, basis.suite)
    return [head, *_events(known), *_exercises(now, report, assignment.written_answers), last], not other


def _about(report: Report | None, now: Entry, other: Sequence[str], suite: str) -> str:
    """How the stored report stands to the mark. other: exercises with other points in the gradebook"""
    if report is None:
        return "No report was kept. autograder grade --gradebook --force makes one."
    if other:
        return f"The gradebook has other points for {', '.join(other)} than the report from then (kit {now.kit})."
    if now.made.suite != suite:
        return f"The course has changed since; this is the report from then (kit {now.kit})."
    return f"This is the report from then, by the same tests (kit {now.kit}): the same points."


def _still_open(coursedir: Any, assignment: Assignment, student: str) -> str:
    """Why the mark is not final: which answers a person has to grade, or to look at again."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            return still_open(book.find_submission(assignment.name, student).notebooks)
        except MissingEntry:  # the history knows more than this gradebook
            return ""


def _events(known: Sequence[Entry]) -> Iterator[str]:
    skipped = len(known) - EVENTS
    shown = known if skipped <= 0 else [known[0], *known[1 - EVENTS :]]
    for number, entry in enumerate(shown):
        more = f" ({skipped} more before this)" if number == 1 and skipped > 0 else ""
        note = f": {entry.note}" if entry.note else ""
        before = shown[number - 1] if number and not more else None
        same = before is not None and (entry.points, entry.penalty) == (before.points, before.penalty)
        gives = f"{'still ' if same else ''}{points(entry.score)} points"
        yield f"  {entry.date:%Y-%m-%d %H:%M} {entry.reason}{note}, {gives} ({entry.who}){more}"


def _exercises(now: Entry, report: Report | None, questions: Collection[str]) -> Iterator[str]:
    """Where points were lost, the largest loss first. questions: the written ones"""
    results = {exercise.name: exercise for exercise in report.exercises} if report else {}
    lost = [(score - most, name) for name, (score, most) in now.points.items() if score < most]
    for _, name in sorted(lost, key=itemgetter(0))[:EXERCISES]:
        score, most = now.points[name]
        result = results.get(name)
        if name in now.by_hand:
            reason = "graded by a person"
        elif name in questions:
            reason = "not answered"
        elif result is None:
            reason = "no report"
        elif not result.started:
            reason = result.evidence or "not started"
        else:
            failed = [test.sentence for test in result.tests if test.state != "passed"]
            reason = result.diagnosis or "; ".join(failed[:1])
            if result.correction:
                reason += f"; right with {result.correction}"
        yield f"  {name}: {points(score)} of {points(most)}, {reason}"


def _agrees(name: str, score: float, now: Entry) -> bool:
    return name in now.by_hand or abs(now.points.get(name, (score, 0.0))[0] - score) <= SMALL
