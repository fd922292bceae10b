"""Saves what a regrade changes in nbgrader's gradebook and folders, and restores it.

It uses nbgrader's own `Gradebook`, so it works for SQLite and PostgreSQL alike. Saved are `COLUMNS` and each student's
autograded folder. Manual scores and comments are not saved: a regrade does not touch them, and neither does undoing it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    SourceCell,
    SubmittedNotebook,
    TaskCell,
)

from autograder.errors import AutograderError, in_words
from autograder.nbgrader.files import remove_tree
from autograder.nbgrader.gradebook_rows import autograded_folder
from autograder.text import shown_name
from autograder.worker.run_log import write_whole

FOLDER = ".regrades"  # beside the gradebook
# The columns that are saved, by the kind of a row. A manual score is only compared, never restored.
COLUMNS: dict[type, tuple[str, ...]] = {
    GradeCell: ("max_score",),
    TaskCell: ("max_score",),
    SourceCell: ("source", "checksum"),
    SubmittedNotebook: ("late_submission_penalty",),
    Grade: ("auto_score", "manual_score", "extra_credit", "needs_manual_grade"),
    Comment: ("auto_comment",),
}
SavedRows = dict[str, dict[str, Any]]  # by the row's id in the gradebook, its columns


class Saved(msgspec.Struct):
    """`gradebook.json`: an assignment's cells, and each student's work."""

    cells: SavedRows
    students: dict[str, SavedRows]


def save(nbgrader: Any, assignment: str, students: Sequence[str]) -> Path:
    """Save `students` of one assignment. Returns the folder.

    If an autograded folder cannot be read, only the marks are saved, and grading makes the folder again.
    """
    now = datetime.now(UTC)  # the last folder by name is the last one saved, also where summer time ends
    place = Path(nbgrader.coursedir.root) / FOLDER / assignment / f"{now:%Y-%m-%dT%H-%M-%S.%fZ}"
    place.mkdir(parents=True)
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        saved = Saved(
            _saved(_cells(book, assignment)),
            {name: _saved(_work(book.find_submission(assignment, name))) for name in students},
        )
    _write(place, saved)
    for student in students:
        with contextlib.suppress(OSError):
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

    Raises `AutograderError` if there is nothing to undo, or not all of it can be.
    """
    saved = sorted((Path(nbgrader.coursedir.root) / FOLDER / assignment).glob("*/gradebook.json"))
    if not saved:
        raise AutograderError(f"there is no regrade of {assignment} to undo")
    place = saved[-1].parent
    rows = _read(place)
    with Gradebook(nbgrader.coursedir.db_url, nbgrader.coursedir.course_id) as book:
        _restore(_cells(book, assignment), rows.cells)
        present = [student for student in rows.students if _restored(book, assignment, student, rows)]
        book.db.commit()
    problems = []
    for student in present:
        try:
            _restore_folder(nbgrader, assignment, student, place)
        except OSError as error:
            problems.append(f"{shown_name(student)} ({in_words(error) or error})")
    if problems:
        raise AutograderError(
            f"the marks are restored, but not the folders in autograded/ of {', '.join(problems)}. Then run this again"
        )
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
    _restore(_work(submission), rows.students[student])
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


def _cells(book: Gradebook, assignment: str) -> Iterator[Any]:
    """The rows of an assignment's cells."""
    for notebook in _assignment(book, assignment).notebooks:
        yield from (*notebook.grade_cells, *notebook.task_cells, *notebook.source_cells)


def _work(submission: Any) -> Iterator[Any]:
    """The rows of one student's work."""
    for notebook in submission.notebooks:
        yield from (notebook, *notebook.grades, *notebook.comments)


def _saved(rows: Iterable[Any]) -> SavedRows:
    return {row.id: {name: getattr(row, name) for name in COLUMNS[type(row)]} for row in rows}


def _restore(rows: Iterable[Any], saved: SavedRows) -> None:
    for row in rows:
        before = dict(saved.get(row.id, {}))
        if "manual_score" in before and before.pop("manual_score") != row.manual_score:  # a person has graded it since
            del before["needs_manual_grade"]
        for name, value in before.items():
            setattr(row, name, value)


def _assignment(book: Gradebook, name: str) -> Any:
    try:
        return book.find_assignment(name)
    except MissingEntry:
        reason = f"the gradebook has no {name}; run `nbgrader generate_assignment {name}` first"
        raise AutograderError(reason) from None
