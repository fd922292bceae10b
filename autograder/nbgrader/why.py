"""How a mark came about: its history in a few lines, and what the tests say about the present submission."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.api import Gradebook, MissingEntry

from autograder.course.assignments import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader import history
from autograder.nbgrader.feedback_page import still_open
from autograder.nbgrader.gradebook_rows import course_cells, points_of, task_with_points
from autograder.nbgrader.history import Entry
from autograder.nbgrader.outcomes import SMALL, suite_digest
from autograder.nbgrader.totals import assign_penalties
from autograder.report import Report, report_of
from autograder.reports.rubric import points
from autograder.submission import Submission, python_in
from autograder.text import shown_name
from autograder.worker.pool import open_pool

EVENTS, EXERCISES = 4, 4  # lines of each that are shown


def lines(assignment: Assignment, nbgrader: Any, student: str) -> tuple[list[str], bool]:
    """At most ten lines about a mark, and False if grading again gives another mark.

    Raises `AutograderError` if there is no history of the student, such as one that was forgotten.
    """
    coursedir, root = nbgrader.coursedir, Path(nbgrader.coursedir.root)
    assign_penalties(nbgrader, assignment)
    if not history.entries(root, student, assignment.name):
        raise AutograderError(f"there is no history of {shown_name(student)} in {assignment.name}")
    history.record(coursedir, assignment.name, student, history.BY_HAND, {})  # what was entered in some other way
    known = history.entries(root, student, assignment.name)
    now = known[-1]
    try:
        maximum = points_of(course_cells(coursedir, assignment))
    except MissingEntry:
        raise AutograderError(f"the gradebook has no {assignment.name}") from None
    report, sentence, same = _report(assignment, maximum, root, student, now)
    late = f", {points(now.penalty)} of them lost for being late" if now.penalty else ""
    most = sum(maximum.values())  # also of what nobody has graded yet
    head = f"{shown_name(student)}, {assignment.name}: {points(now.score)} of {points(most)} points{late}"
    head = "; ".join(filter(None, (head, _still_open(coursedir, assignment, student))))
    return [head, *_events(known), *_exercises(now, report, assignment.written_answers), sentence], same


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
            if place := result.first("place"):
                reason += f"; right with line {place.lines[0]} as `{place.repaired}`"
        yield f"  {name}: {points(score)} of {points(most)}, {reason}"


def _report(
    assignment: Assignment, maximum: Mapping[str, float], root: Path, student: str, now: Entry
) -> tuple[Report | None, str, bool]:
    """The report on the present submission, a sentence about it, and False if its marks differ from the gradebook's.

    The submission is graded again, unless the course has changed; then the report is the stored one.
    maximum: the gradebook's points by grade_id
    """
    notebook, stored_report = history.stored_files(root, student, assignment.name, now.suite, now.submission)
    if notebook.is_file() and now.suite == suite_digest(version := assignment.version, maximum):
        submission = Submission(student, assignment.name, notebook, python=python_in(notebook.with_suffix("")))
        task = task_with_points(submission, assignment, version, maximum)
        with contextlib.closing(open_pool(root, 1, "auto")) as workers:
            ((_, marked),) = workers.mark([task])
        if marked.report.reason:
            return None, f"It could not be graded again: {marked.report.reason}", False
        other = [
            exercise.name for exercise in marked.report.exercises if not _agrees(exercise.name, exercise.score, now)
        ]
        if other:
            return marked.report, f"Graded again just now, with other points for {', '.join(other)}.", False
        return marked.report, f"Graded again just now, by the same tests (kit {now.kit}): the same points.", True
    if not stored_report.is_file():
        return None, "The course has changed since, and no report was kept.", True
    report = report_of(msgspec.json.decode(stored_report.read_bytes()))
    return report, f"The course has changed since; this is the report from then (kit {now.kit}).", True


def _agrees(name: str, score: float, now: Entry) -> bool:
    return name in now.by_hand or abs(now.points.get(name, (score, 0.0))[0] - score) <= SMALL
