"""What a change of the course, or of the kit, would do to marks that are already in the gradebook.

The autograded notebook stores what its marks were made of: digests of the submission and of each graded cell. If the
submission is the same and a mark would differ, a person has to accept that.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import BaseCell, Grade, Gradebook, SubmittedAssignment

from autograder.course import CHECK, Assignment, check_cell
from autograder.course_version import is_stamped
from autograder.nbgrader.gradebook_rows import rows_of
from autograder.report import Report
from autograder.reports.plain_text import points

GRADED, SUBMISSION, CELLS = "graded", "submission", "cells"  # keys of what is stored with the marks
STORED = "autograder"  # the key of the autograded notebook's metadata that holds them
SMALL = 1e-6  # points; scores have two digits

Marks = Mapping[str, tuple[float | None, float | None]]  # by graded cell: automatic and manual score


@dataclass(frozen=True)
class Move:
    """A mark that differs now, for the same submission."""

    exercise: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.exercise} {points(self.before)} → {points(self.after)}"


def cell_digests(assignment: Assignment, points: Mapping[str, float]) -> dict[str, list[object]]:
    """For each graded cell its points, and a digest of what it is graded by: hidden tests, or the model answer.

    points: the gradebook's, by grade_id
    """
    answers = assignment.model_answers | {c.grade_id: c.source for c in assignment.assert_cells.values()}
    return {
        name: [points[name], _digest(answers[name] if name in answers else _tests_of(assignment, name))]
        for name in assignment.graded_cells
        if name in points
    }


def _tests_of(assignment: Assignment, name: str) -> str:
    folder = assignment.content / name.removeprefix(CHECK)
    found = sorted(path for path in (*folder.rglob("*"), *assignment.content.glob("*")) if is_stamped(path))
    return "\n".join(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in found)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def suite_digest(assignment: Assignment, points: Mapping[str, float]) -> str:
    """A digest of all that a mark depends on beside the submission: course, kit, and the gradebook's points."""
    return _digest(assignment.version() + repr(sorted(points.items())))


def unchanged_cells(before: object, now: Mapping[str, list[object]]) -> set[str]:
    """The cells whose points and question are the same.

    An exercise's tests may differ, since its score shows whether that matters.
    """
    old = before if isinstance(before, dict) else {}
    return {name for name, digest in now.items() if name in old and _is_same(name, old[name], digest)}


def _is_same(name: str, before: object, now: list[object]) -> bool:
    return before == now or (name.startswith(CHECK) and isinstance(before, list) and before[:1] == now[:1])


def stored_with_marks(notebook: Path) -> dict[str, Any]:
    """What an autograded notebook stores beside its marks; empty if it is not there or was not finished."""
    try:
        found = json.loads(notebook.read_text(encoding="utf-8"))["metadata"][STORED]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def marks_now(coursedir: Any, assignment: str) -> dict[str, Marks]:
    """The gradebook's marks by student. A score is None if the tests, or a person, gave none."""
    found: dict[str, dict[str, tuple[float | None, float | None]]] = defaultdict(dict)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        columns = (SubmittedAssignment.student_id, BaseCell.name, Grade.auto_score, Grade.manual_score)
        for student, cell, auto, manual in rows_of(book, assignment, Grade, *columns):
            found[student][cell] = auto, manual
    return dict(found)


def moves(before: Marks, report: Report) -> tuple[Move, ...]:
    """The marks that a report would change. A mark that a person has given stays."""
    found = []
    for exercise in report.exercises:
        auto, manual = before.get(check_cell(exercise.name, before), (None, None))
        if auto is not None and manual is None and abs(auto - exercise.score) > SMALL:
            found.append(Move(exercise.name, auto, exercise.score))
    return tuple(found)
