"""What a change of the course, or of the kit, would do to marks that are in the gradebook already.

Beside each mark the autograded notebook keeps what it was made of: digests of the submission and of each graded cell.
If the submission is the same and a mark would be another one, that is for a person to accept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import BaseCell, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook

from autograder.course import CHECK, Assignment, check_cell
from autograder.course_version import is_stamped
from autograder.nbgrader.gradebook_rows import grades_of
from autograder.report import Report
from autograder.reports.plain_text import points

GRADED, SUBMISSION, CELLS = "graded", "submission", "cells"  # keys of what is kept with the marks
KEPT = "autograder"  # the key of the autograded notebook's metadata that holds them
SMALL = 1e-6  # points; scores have two digits


@dataclass(frozen=True)
class Move:
    """A mark that is another one now, of the same submission."""

    exercise: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.exercise} {points(self.before)} → {points(self.after)}"


def cell_digests(assignment: Assignment, worth: Mapping[str, float]) -> dict[str, list[object]]:
    """Of each graded cell its points, and a digest of what it is graded by: hidden tests, or the model answer.

    worth: the gradebook's points by grade_id
    """
    answers = assignment.model_answers | {c.grade_id: c.source for c in assignment.assert_cells.values()}
    return {
        name: [worth[name], _digest(answers[name] if name in answers else _tests_of(assignment, name))]
        for name in assignment.graded_cells
        if name in worth
    }


def _tests_of(assignment: Assignment, name: str) -> str:
    folder = assignment.content / name.removeprefix(CHECK)
    found = sorted(path for path in (*folder.rglob("*"), *assignment.content.glob("*")) if is_stamped(path))
    return "\n".join(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in found)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def suite_digest(assignment: Assignment, worth: Mapping[str, float | None]) -> str:
    """A word for all that a mark depends on beside the submission: course, kit, and the gradebook's points."""
    return _digest(assignment.version() + repr(sorted(worth.items())))


def unchanged_cells(before: object, now: Mapping[str, list[object]]) -> set[str]:
    """The cells that ask the same and are worth the same. An exercise's tests may differ: its score tells of that."""
    old = before if isinstance(before, dict) else {}
    return {name for name, told in now.items() if name in old and _asks_the_same(name, old[name], told)}


def _asks_the_same(name: str, before: object, now: list[object]) -> bool:
    return before == now or (name.startswith(CHECK) and isinstance(before, list) and before[:1] == now[:1])


def kept_with(notebook: Path) -> dict[str, Any]:
    """What is kept with the marks of an autograded notebook; empty if it is not there or was not finished."""
    try:
        found = json.loads(notebook.read_text(encoding="utf-8"))["metadata"][KEPT]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def marks_now(coursedir: Any, assignment: str) -> dict[str, dict[str, tuple[float | None, float | None]]]:
    """By student and graded cell what the tests and what a person gave; None if they gave nothing."""
    found: dict[str, dict[str, tuple[float | None, float | None]]] = defaultdict(dict)
    columns = SubmittedAssignment.student_id, BaseCell.name, Grade.auto_score, Grade.manual_score
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        rows = (
            book.db.query(*columns)
            .select_from(SubmittedAssignment)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .filter(SubmittedAssignment.assignment.has(name=assignment))
        )
        for student, cell, auto, manual in rows:
            found[student][cell] = auto, manual
    return dict(found)


def moves(before: Mapping[str, tuple[float | None, float | None]], report: Report) -> tuple[Move, ...]:
    """The marks that a report would change; one that a person has given stays."""
    found = []
    for one in report.exercises:
        auto, manual = before.get(check_cell(one.name, before), (None, None))
        if auto is not None and manual is None and abs(auto - one.score) > SMALL:
            found.append(Move(one.name, auto, one.score))
    return tuple(found)


@contextlib.contextmanager
def settled_kept(coursedir: Any, assignment: str, student: str, same: Collection[str]) -> Iterator[None]:
    """Manual grades that were settled before stay so in the cells that are `same`, if the tests' score is, too.

    nbgrader lets all of them wait for a person again.
    """
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        settled = {
            grade.id: grade.auto_score
            for grade in grades_of(book, assignment, student)
            if grade.manual_score is not None and not grade.needs_manual_grade and grade.name in same
        }
    yield
    if settled:
        with Gradebook(coursedir.db_url, coursedir.course_id) as book:
            for grade in grades_of(book, assignment, student):
                if grade.id in settled and grade.auto_score == settled[grade.id]:
                    grade.needs_manual_grade = False
            book.db.commit()
