"""How a mark came about: its history in a few lines, and what the tests say of the submission that counts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.api import Gradebook, MissingEntry

from autograder.course import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader import history
from autograder.nbgrader.course_changes import SMALL, suite_digest
from autograder.nbgrader.history import Entry
from autograder.nbgrader.preprocessor import exercises_with_points
from autograder.nbgrader.restore import course_cells
from autograder.report import Report
from autograder.reports.marks_file import report_of
from autograder.reports.plain_text import points
from autograder.submission import Submission
from autograder.text import shown_name
from autograder.worker.pool import open_pool
from autograder.worker.task import as_task

EVENTS, EXERCISES = 4, 4  # lines of each that are shown


def lines(assignment: Assignment, nbgrader: Any, student: str) -> tuple[list[str], bool]:
    """At most ten lines on a mark; and whether grading anew, if that is possible, gives the same.

    Raises `AutograderError` if nothing is known of the student.
    """
    coursedir, root = nbgrader.coursedir, Path(nbgrader.coursedir.root)
    history.record(coursedir, assignment.name, student, history.BY_HAND, {})  # whatever was entered in another way
    known = history.entries(root, student, assignment.name)
    if not known:
        raise AutograderError(f"nothing is known of {shown_name(student)} in {assignment.name}")
    now = known[-1]
    report, said, same = _report(assignment, coursedir, student, now)
    late = f", {points(now.penalty)} of them lost for being late" if now.penalty else ""
    head = f"{shown_name(student)}, {assignment.name}: {points(now.score)} of {points(now.max_score)} points{late}"
    return [head, *_events(known), *_exercises(now, report), said], same


def _events(known: Sequence[Entry]) -> Iterator[str]:
    shown = known if len(known) <= EVENTS else [known[0], *known[1 - EVENTS :]]
    for entry in shown:
        left = f" ({len(known) - EVENTS} more before this)" if entry is not shown[0] and entry is shown[1] else ""
        more = left if len(known) > EVENTS else ""
        note = f": {entry.note}" if entry.note else ""
        yield f"  {entry.date:%Y-%m-%d %H:%M} {entry.reason}{note}, {points(entry.score)} points ({entry.who}){more}"


def _exercises(now: Entry, report: Report | None) -> Iterator[str]:
    """Where points were lost, the largest loss first."""
    results = {one.name: one for one in report.exercises} if report else {}
    lost = sorted((name for name, (score, most) in now.points.items() if score < most), key=lambda n: _loss(now, n))
    for name in lost[:EXERCISES]:
        score, most = now.points[name]
        result = results.get(name)
        by = "given by a person" if name in now.by_hand else ""
        failed = [test.sentence for test in result.tests if test.state != "passed"] if result and result.started else []
        tests = (result.diagnosis or "; ".join(failed[:1])) if result and result.started else "not started"
        yield f"  {name}: {points(score)} of {points(most)}, {by or (tests if result else 'no report')}"


def _loss(now: Entry, name: str) -> float:
    score, most = now.points[name]
    return score - most


def _report(assignment: Assignment, coursedir: Any, student: str, now: Entry) -> tuple[Report | None, str, bool]:
    """The report on what counts, made anew or kept, a sentence on that, and whether marks agree."""
    root, digests = Path(coursedir.root), {"suite": now.suite, "submission": now.submission}
    notebook = history.kept_submission(root, student, assignment.name, digests)
    worth = _worth(assignment, coursedir)
    if notebook.is_file() and now.suite == suite_digest(assignment, worth):
        task = as_task(Submission(student, assignment.name, notebook), assignment.version(), assignment.locked_cells)
        with contextlib.closing(open_pool(root, 1, "auto")) as workers:
            ((_, marked),) = workers.mark([replace(task, exercises=exercises_with_points(worth, assignment))])
        if marked.report.reason:
            return None, f"It could not be graded anew: {marked.report.reason}", False
        other = [one.name for one in marked.report.exercises if not _agrees(one.name, one.score, now)]
        if other:
            return marked.report, f"Graded anew just now, there are other points for {', '.join(other)}.", False
        return marked.report, f"Graded anew just now, by the same tests (kit {now.kit}): the same points.", True
    kept = history.kept_report(root, student, assignment.name, digests)
    if not kept.is_file():
        return None, "The course has changed since, and no report was kept.", True
    report = report_of(msgspec.json.decode(kept.read_bytes()))
    return report, f"The course has changed since; this is the report of then (kit {now.kit}).", True


def _agrees(name: str, score: float, now: Entry) -> bool:
    return name in now.by_hand or abs(now.points.get(name, (score, 0.0))[0] - score) <= SMALL


def _worth(assignment: Assignment, coursedir: Any) -> dict[str, float | None]:
    """The gradebook's points by graded cell."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            cells = course_cells(book.find_notebook(assignment.notebook.stem, assignment.name))
        except MissingEntry:
            raise AutograderError(f"the gradebook knows no {assignment.name}") from None
        return {name: cell.points for name, cell in cells.items() if cell.grade}
