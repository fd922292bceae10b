"""Saves what a regrade changes in nbgrader's gradebook and folders, and restores it.

It uses nbgrader's own `Gradebook`, so it works for SQLite and PostgreSQL alike. Saved are `COLUMNS` and each student's
autograded notebook. Manual scores and comments are not saved: a regrade does not touch them, and neither does undoing
it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

from autograder.errors import AutograderError, SubmissionError, in_words
from autograder.nbgrader.gradebook_rows import autograded_folder, released
from autograder.nbgrader.hardening.files import SECRET, TIMESTAMP, digest_of, notebooks_in
from autograder.reading import read_bytes
from autograder.reports.store import EVERYBODY, NOTEBOOK, SavedRows, Store
from autograder.submission import MAX_BYTES
from autograder.text import shown_name
from cellcage.files import put

# The columns that are saved, by the kind of a row. A manual score is only compared, never restored.
COLUMNS: dict[type, tuple[str, ...]] = {
    GradeCell: ("max_score",),
    TaskCell: ("max_score",),
    SourceCell: ("source", "checksum"),
    SubmittedNotebook: ("late_submission_penalty",),
    Grade: ("auto_score", "manual_score", "extra_credit", "needs_manual_grade"),
    Comment: ("auto_comment",),
}


def save(coursedir: Any, assignment: str, students: Sequence[str]) -> int:
    """Save `students` of one assignment. Returns a number for `restore`.

    If an autograded notebook cannot be read, only the marks are saved, and grading makes the notebook again.
    """
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        rows = {name: (_saved(_work(book.find_submission(assignment, name))), dict[str, bytes]()) for name in students}
        cells = _saved(_cells(book, assignment))
    for student in students:
        folder = autograded_folder(coursedir, student, assignment)
        for path in (*map(Path, notebooks_in(str(folder))), folder / TIMESTAMP, folder / SECRET):
            with contextlib.suppress(SubmissionError):  # not there, or not a plain file
                rows[student][1][path.name] = read_bytes(path, MAX_BYTES, "")
    return Store(Path(coursedir.root)).save(assignment, rows | {EVERYBODY: (cells, {})})


@contextlib.contextmanager
def undoable(coursedir: Any, students: Sequence[str], is_needed: Callable[[], bool]) -> Iterator[None]:
    """Save these students before the block runs, and remove the copy afterwards if it is not needed."""
    assignment = coursedir.assignment_id
    number = save(coursedir, assignment, students) if students else 0
    try:
        yield
    finally:
        if number and not is_needed():
            Store(Path(coursedir.root)).drop(number)


def undo(coursedir: Any, assignment: str) -> list[str]:
    """Restore what the last regrade of `assignment` changed. Returns its students, without those who have left since.

    Raises `AutograderError` if there is nothing to undo, or not all of it can be.
    """
    store = Store(Path(coursedir.root))
    number, saved = store.saved(assignment)
    if not number:
        raise AutograderError(f"there is no regrade of {assignment} to undo")
    cells, _ = saved.pop(EVERYBODY)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        _restore(_cells(book, assignment), cells)
        present = [student for student in saved if _restored(book, assignment, student, saved[student][0])]
        book.db.commit()
    problems = []
    for student in present:
        try:
            _restore_folder(coursedir, assignment, student, saved[student][1])
        except OSError as error:
            problems.append(f"{shown_name(student)} ({in_words(error) or error})")
    if problems:
        raise AutograderError(
            f"the marks are restored, but not the folders in autograded/ of {', '.join(problems)}. Then run this again"
        )
    store.drop(number)
    return present


def restore(coursedir: Any, assignment: str, student: str) -> None:
    """Restore what was last saved of one student: nbgrader removes the autograded folder if it cannot grade."""
    rows, files = Store(Path(coursedir.root)).saved(assignment)[1][student]
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        _restored(book, assignment, student, rows)
        book.db.commit()
    _restore_folder(coursedir, assignment, student, files)


def _restored(book: Gradebook, assignment: str, student: str, rows: SavedRows) -> bool:
    """Restore a student's rows. False if the gradebook has no such submission any more."""
    try:
        submission = book.find_submission(assignment, student)
    except MissingEntry:
        return False
    _restore(_work(submission), rows)
    return True


def _restore_folder(coursedir: Any, assignment: str, student: str, files: Mapping[str, bytes]) -> None:
    """Other files beside the notebook are as they were, since the same work was graded."""
    folder = autograded_folder(coursedir, student, assignment)
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, "it is a link", str(folder))
    put(files, folder, 0o644)
    store = Store(Path(coursedir.root))
    for path in notebooks_in(str(folder)):
        store.set_digest(assignment, student, NOTEBOOK, digest_of(Path(path)))


def _cells(book: Gradebook, assignment: str) -> Iterator[Any]:
    """The rows of an assignment's cells."""
    with released(assignment):
        notebooks = book.find_assignment(assignment).notebooks
    for notebook in notebooks:
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
