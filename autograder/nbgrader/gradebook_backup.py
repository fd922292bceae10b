"""Saves what a regrade changes in nbgrader's gradebook and folders, and restores it.

It uses nbgrader's own `Gradebook`, so it works for SQLite and PostgreSQL alike. Saved are automatic scores, whether a
cell waits for a person, extra credit (which a withdrawal changes), automatic comments, late penalties, timestamps, the
cells' points and sources, and each student's autograded folder. Manual scores and comments are not saved: a regrade
does not touch them, and neither does undoing it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from nbgrader.api import Gradebook, MissingEntry

from autograder.errors import AutograderError
from autograder.nbgrader.files import remove_tree
from autograder.nbgrader.gradebook_rows import autograded_folder
from autograder.worker.run_log import write_whole

FOLDER = ".regrades"  # beside the gradebook
Row = TypeVar("Row")


class SavedCells(msgspec.Struct):
    """A notebook's cells by name: points, and source with its checksum."""

    points: dict[str, float]
    sources: dict[str, tuple[str | None, str | None]]


class SavedGrades(msgspec.Struct):
    """One student's notebook: grades by cell (automatic, manual, waits for a person) and automatic comments."""

    penalty: float | None
    grades: dict[str, tuple[float | None, float | None, bool | None]]
    comments: dict[str, str | None]
    extra: dict[str, float | None] = {}


class SavedSubmission(msgspec.Struct):
    """What a regrade changes of one student's work."""

    timestamp: datetime | None
    notebooks: dict[str, SavedGrades]


class Saved(msgspec.Struct):
    """`gradebook.json`: an assignment's cells by notebook, and its students' work."""

    notebooks: dict[str, SavedCells]
    students: dict[str, SavedSubmission]


def save(nbgrader: Any, assignment: str, students: Sequence[str]) -> Path:
    """Save `students` of one assignment. Returns the folder."""
    now = datetime.now(UTC)  # the last folder by name is the last one saved, also where summer time ends
    place = Path(nbgrader.coursedir.root) / FOLDER / assignment / f"{now:%Y-%m-%dT%H-%M-%S.%fZ}"
    place.mkdir(parents=True)
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        saved = Saved(
            {notebook.name: _cells(notebook) for notebook in book.find_assignment(assignment).notebooks},
            {name: _submission(book.find_submission(assignment, name)) for name in students},
        )
    _write(place, saved)
    for student in students:
        _copy(autograded_folder(nbgrader.coursedir, student, assignment), place / "autograded" / student)
    return place


@contextlib.contextmanager
def undoable(nbgrader: Any, students: Sequence[str], is_needed: Callable[[], bool]) -> Iterator[None]:
    """Save these students before the block runs, and remove the copy afterwards if it is not needed."""
    place = save(nbgrader, nbgrader.coursedir.assignment_id, students) if students else None
    try:
        yield
    finally:
        if place and not is_needed():
            remove_tree(place)


def undo(nbgrader: Any, assignment: str) -> list[str]:
    """Restore what the last regrade of `assignment` changed. Returns its students, without those who have left since.

    Raises `AutograderError` if there is nothing to undo.
    """
    saved = sorted((Path(nbgrader.coursedir.root) / FOLDER / assignment).glob("*/gradebook.json"))
    if not saved:
        raise AutograderError(f"there is no regrade of {assignment} to undo")
    place = saved[-1].parent
    rows = _read(place)
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        for notebook, cells in _both(_assignment(book, assignment).notebooks, rows.notebooks):
            _restore_cells(notebook, cells)
        present = [student for student in rows.students if _restored(book, assignment, student, rows)]
        book.db.commit()
    for student in present:
        _restore_folder(nbgrader, assignment, student, place)
    remove_tree(place)
    return present


def restore(nbgrader: Any, assignment: str, student: str, place: Path) -> None:
    """Restore the marks of one student, and the autograded folder, which nbgrader removes if it cannot grade."""
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        _restored(book, assignment, student, _read(place))
        book.db.commit()
    _restore_folder(nbgrader, assignment, student, place)


def forget(root: Path, student: str) -> bool:
    """Remove a student's saved data from all regrades. Returns whether there was any."""
    found = False
    for file in sorted((root / FOLDER).glob("*/*/gradebook.json")):
        place = file.parent
        rows = _read(place)
        if rows.students.pop(student, None) is not None:
            found = True
            remove_tree(place / "autograded" / student)  # first: if this is interrupted, the name is still there
            _write(place, rows)
    return found


def _restored(book: Gradebook, assignment: str, student: str, rows: Saved) -> bool:
    """Restore a student's rows. False if the gradebook has no such submission any more."""
    try:
        submission = book.find_submission(assignment, student)
    except MissingEntry:
        return False
    _restore_submission(submission, rows.students[student])
    return True


def _restore_folder(nbgrader: Any, assignment: str, student: str, place: Path) -> None:
    folder = autograded_folder(nbgrader.coursedir, student, assignment)
    remove_tree(folder)
    _copy(place / "autograded" / student, folder)


def _read(place: Path) -> Saved:
    """Raises `AutograderError` if the file is damaged."""
    file = place / "gradebook.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=Saved)
    except msgspec.MsgspecError as error:
        reason = f"{file} is damaged ({error}). Remove {place}; what was saved there cannot be restored"
        raise AutograderError(reason) from None


def _write(place: Path, rows: Saved) -> None:
    write_whole(place / "gradebook.json", msgspec.json.encode(rows).decode())


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)


def _cells(notebook: Any) -> SavedCells:
    return SavedCells(
        {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]},
        {cell.name: (cell.source, cell.checksum) for cell in notebook.source_cells},
    )


def _restore_cells(notebook: Any, saved: SavedCells) -> None:
    for cell, points in _both([*notebook.grade_cells, *notebook.task_cells], saved.points):
        cell.max_score = points
    for cell, source in _both(notebook.source_cells, saved.sources):
        cell.source, cell.checksum = source


def _submission(submission: Any) -> SavedSubmission:
    return SavedSubmission(
        submission.timestamp,
        {
            notebook.name: SavedGrades(
                notebook.late_submission_penalty,
                {
                    grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                    for grade in notebook.grades
                },
                {comment.name: comment.auto_comment for comment in notebook.comments},
                {grade.name: grade.extra_credit for grade in notebook.grades},
            )
            for notebook in submission.notebooks
        },
    )


def _restore_submission(submission: Any, saved: SavedSubmission) -> None:
    submission.timestamp = saved.timestamp
    for notebook, rows in _both(submission.notebooks, saved.notebooks):
        notebook.late_submission_penalty = rows.penalty
        for grade, (auto, manual, waiting) in _both(notebook.grades, rows.grades):
            grade.auto_score = auto
            if grade.manual_score == manual:  # no person has graded it since
                grade.needs_manual_grade = waiting
        for grade, extra in _both(notebook.grades, rows.extra):
            grade.extra_credit = extra
        for comment, text in _both(notebook.comments, rows.comments):
            comment.auto_comment = text


def _both(rows: list[Any], saved: Mapping[str, Row]) -> Iterator[tuple[Any, Row]]:
    """The rows with saved data, each with its data."""
    return ((row, saved[row.name]) for row in rows if row.name in saved)


def find_submissions_of(nbgrader: Any, assignment: str) -> list[str]:
    """Students with a graded submission. Raises `AutograderError` if the gradebook has no such assignment."""
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        _assignment(book, assignment)
        return sorted(submission.student.id for submission in book.assignment_submissions(assignment))


def _assignment(book: Gradebook, name: str) -> Any:
    try:
        return book.find_assignment(name)
    except MissingEntry:
        reason = f"the gradebook has no {name}; run `nbgrader generate_assignment {name}` first"
        raise AutograderError(reason) from None
