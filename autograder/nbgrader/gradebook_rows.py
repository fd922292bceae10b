"""What nbgrader's gradebook has: cells, points and marks, due dates, students, and what a feedback page shows."""

from __future__ import annotations

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import and_
from sqlalchemy.exc import SQLAlchemyError

from autograder.course.assignments import Assignment, Exercise
from autograder.course.content import settings_now
from autograder.course.source_notebook import check_cell, exercise_name
from autograder.discovery import name_problem
from autograder.errors import CourseError
from autograder.nbgrader.hardening.files import notebooks_in
from autograder.reports.roster import Person


def rows_of(book: Gradebook, assignment: str, table: Any, *columns: Any) -> Any:
    """A query for `columns` in every row of `table`, `Grade` or `Comment`, of an assignment's submissions.

    One query for all of them: nbgrader's objects make one for each cell. Rows are found by cell and notebook, for which
    there is an index.
    """
    return (
        book.db.query(*columns)
        .select_from(SubmittedAssignment)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(BaseCell, BaseCell.notebook_id == SubmittedNotebook.notebook_id)
        .join(table, and_(table.cell_id == BaseCell.id, table.notebook_id == SubmittedNotebook.id))
        .filter(SubmittedAssignment.assignment.has(name=assignment))
    )


@dataclass(frozen=True)
class CellMark:
    """The mark of one cell in the gradebook. `auto` is None if a person grades the cell, `manual` if nobody has."""

    auto: float | None
    manual: float | None
    extra: float
    max_score: float

    @property
    def score(self) -> float:
        """The points that count: the manual grade if there is one, as in nbgrader's `Grade.score`."""
        return (self.manual if self.manual is not None else self.auto or 0.0) + self.extra


CellMarks = Mapping[str, CellMark]  # of one student, by cell
NO_MARK = CellMark(None, None, 0.0, 0.0)


def marks_now(coursedir: Any, assignment: str, only: str = "") -> dict[str, dict[str, CellMark]]:
    """The gradebook's marks by student. only: one student; all if empty"""
    found = defaultdict[str, dict[str, CellMark]](dict)
    columns = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.max_score)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        rows = rows_of(book, assignment, Grade, SubmittedAssignment.student_id, BaseCell.name, *columns)
        if only:
            rows = rows.filter(SubmittedAssignment.student_id == only)
        for student, cell, auto, manual, extra, most in rows.order_by(BaseCell.name):
            found[student][cell] = CellMark(auto, manual, extra or 0.0, most)
    return dict(found)


def penalty_in(submission: SubmittedAssignment) -> float:
    """What a submission loses for being late."""
    return sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)


def autograded_folder(coursedir: Any, student: str, assignment: str) -> Path:
    """Where a student's graded notebook is."""
    return Path(coursedir.format_path(coursedir.autograded_directory, student, assignment))


def comments_of(notebook: SubmittedNotebook) -> dict[str, str]:
    """The comment on each graded cell, or else on the cell that it checks; empty if there is none."""
    comments = {comment.name: comment.comment or "" for comment in notebook.comments}
    names = [grade.name for grade in notebook.grades]
    return {name: comments.get(name) or comments.get(exercise_name(name), "") for name in names}


def has_scores(submission: SubmittedAssignment) -> bool:
    """Whether a submission in the gradebook has a score, by tests or by a person.

    For a student with an extension, nbgrader makes rows without scores before anything is handed in.
    """
    grades = (grade for notebook in submission.notebooks for grade in notebook.grades)
    return any(grade.auto_score is not None or grade.manual_score is not None for grade in grades)


@dataclass(frozen=True)
class CourseCell:
    """A cell as the gradebook has it. `points` is None if it is not graded; `source` is the course's text."""

    grade_id: str
    cell_type: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    checksum: str
    points: float | None
    source: str

    @property
    def is_answer(self) -> bool:
        """True for a written answer, which a person grades."""
        return self.grade and self.solution and self.cell_type == "markdown"

    def metadata(self) -> dict[str, object]:
        """The cell's nbgrader metadata, as a notebook holds it."""
        omitted = {"source"} if self.points is not None else {"source", "points"}
        return {name: value for name, value in vars(self).items() if name not in omitted} | {"schema_version": 3}


@contextlib.contextmanager
def released(assignment: str) -> Iterator[None]:
    """Raises `CourseError` where the gradebook misses something of an assignment."""
    try:
        yield
    except MissingEntry:
        text = f"{assignment} is not in the gradebook; run: nbgrader generate_assignment {assignment}"
        raise CourseError(text) from None


def course_cells(coursedir: Any, assignment: Assignment) -> dict[str, CourseCell]:
    """The gradebook's cells of a released notebook, by grade_id. Raises `CourseError` if it was not released."""
    with released(assignment.name), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        notebook = book.find_notebook(assignment.notebook.stem, assignment.name)
        points = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
        grades, solutions, tasks = (
            {cell.name for cell in cells}
            for cells in (notebook.grade_cells, notebook.solution_cells, notebook.task_cells)
        )
        return {
            cell.name: CourseCell(
                grade_id=cell.name,
                cell_type=cell.cell_type,
                grade=cell.name in grades,
                solution=cell.name in solutions,
                task=cell.name in tasks,
                locked=cell.locked,
                checksum=cell.checksum,
                points=points.get(cell.name),
                source=cell.source,
            )
            for cell in notebook.source_cells
        }


def points_of(cells: Mapping[str, CourseCell]) -> dict[str, float]:
    """The gradebook's points of each graded cell, by grade_id."""
    return {name: cell.points or 0.0 for name, cell in cells.items() if cell.grade}


def exercises_with_points(assignment: Assignment, points: Mapping[str, float]) -> tuple[Exercise, ...]:
    """The exercises, with the gradebook's points in place of the source notebook's. points: by grade_id"""
    return tuple(
        replace(exercise, points=points.get(check_cell(exercise.name, points), exercise.points))
        for exercise in assignment.exercises
    )


def points_that_differ(coursedir: Any, assignment: Assignment) -> Iterator[str]:
    """A sentence for each cell whose points in the source notebook differ from those in the gradebook."""
    name = assignment.name
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        try:
            found = book.find_assignment(name)
        except MissingEntry:
            return
        known = {cell.name: cell.max_score for notebook in found.notebooks for cell in notebook.grade_cells}
        graded = bool(found.num_submissions)
    if graded:
        remedy = f"`autograder regrade {name}` shows what that changes"
    else:
        remedy = f"`nbgrader generate_assignment {name}` takes that over"
    for cell, points in assignment.graded_cells.items():
        if known.get(cell) != points:
            counts = f"{known[cell]:g} in the gradebook, which counts here" if cell in known else "not in the gradebook"
            yield f"{name}: {exercise_name(cell)} is worth {points:g} in source/ and {counts}; {remedy}"


def graded_points(book: Gradebook, assignment: str) -> dict[str, float]:
    """The points of an assignment's cells by grade_id; empty if nobody has marks in it yet."""
    try:
        found = book.find_assignment(assignment)
    except MissingEntry:
        return {}
    if not any(map(has_scores, found.submissions)):
        return {}
    return {cell.name: cell.max_score for notebook in found.notebooks for cell in notebook.grade_cells}


def take_over_points(coursedir: Any, assignment: Assignment) -> None:
    """Give the gradebook's cells the points that the course has now, if the assignment is released."""
    wanted = assignment.graded_cells
    with contextlib.suppress(MissingEntry), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for notebook in book.find_assignment(assignment.name).notebooks:
            for cell in notebook.grade_cells:
                cell.max_score = wanted.get(cell.name, cell.max_score)
        book.db.commit()


def answers_waiting(coursedir: Any, assignment: str) -> int:
    """How many of an assignment's answers wait for a person to grade them."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        waiting: int = rows_of(book, assignment, Grade, Grade.id).filter(Grade.needs_manual_grade).count()
        return waiting


def due_date(coursedir: Any, assignment: str) -> datetime | None:
    """When an assignment is due, in UTC; None if the gradebook has no due date."""
    with contextlib.suppress(MissingEntry), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        due: datetime | None = book.find_assignment(assignment).duedate
        return due
    return None


def enter_student(coursedir: Any, student: str) -> None:
    """Enter a student who cannot be graded, so that nbgrader's own pages and exports list them.

    If the gradebook cannot be written, that may be why they could not be graded; the reason was reported already.
    """
    if name_problem(student) is None:
        with (
            contextlib.suppress(SQLAlchemyError, InvalidEntry),
            Gradebook(coursedir.db_url, coursedir.course_id) as book,
        ):
            book.update_or_create_student(student)


def enter_students(coursedir: Any, people: Collection[Person], ids: Mapping[str, str]) -> tuple[int, set[str]]:
    """Enter names and e-mail addresses, which formgrader shows. ids: in place of some that the people have

    Returns how many students are new, and the ids of all whose name or address is known.
    """
    rename_students(coursedir, ids)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        known = {student.id for student in book.students}
        for person in people:
            _enter(book, ids.get(person.id, person.id), person)
        everybody = book.students
        return len({student.id for student in everybody} - known), {one.id for one in everybody if _is_named(one)}


def _enter(book: Gradebook, student: str, person: Any) -> Any:
    """Enter what is known of a person, who is the roster's or the gradebook's, under an id. Returns the student."""
    fields = {"first_name": person.first_name, "last_name": person.last_name, "email": person.email}
    return book.update_or_create_student(student, **{name: value for name, value in fields.items() if value})


def _is_named(student: Any) -> bool:
    return bool(student.first_name or student.last_name or student.email)


def rename_students(coursedir: Any, ids: Mapping[str, str]) -> None:
    """Give students their new ids, by old id, with all that the gradebook has of them."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for old in {student.id for student in book.students} & ids.keys():
            before = book.find_student(old)
            student = _enter(book, ids[old], before)
            mine = {one.assignment_id for one in student.submissions}
            for submission in [one for one in before.submissions if one.assignment_id not in mine]:
                submission.student = student
            book.db.commit()
            book.remove_student(old)


def is_student(coursedir: Any, student: str) -> bool:
    """Whether the gradebook has a student of this id."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book, contextlib.suppress(MissingEntry):
        book.find_student(student)
        return True
    return False


def class_list(coursedir: Any) -> set[str]:
    """The ids of all students in the gradebook; empty if `autograder roster` has entered no name and no address.

    Grading enters ids only, so without names there is nothing that ids could be checked against.
    """
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        students = book.students
        return {student.id for student in students} if any(map(_is_named, students)) else set()


def page_stamps(coursedir: Any, assignment: str) -> dict[str, str]:
    """For each graded student a digest of all that their feedback page shows."""
    rows: dict[str, list[str]] = defaultdict(list)
    contact = settings_now(Path(coursedir.root)).contact
    shown: dict[type, tuple[Any, ...]] = {
        Grade: (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade, Grade.cell_id),
        Comment: (Comment.auto_comment, Comment.manual_comment, Comment.cell_id),
    }
    whose = SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for table, columns in shown.items():
            for student, *row in rows_of(book, assignment, table, *whose, *columns):
                rows[student].append(repr(tuple(row)))
        found = book.find_assignment(assignment)
        points = sorted(
            (cell.name, cell.max_score)
            for notebook in found.notebooks
            for cell in [*notebook.grade_cells, *notebook.task_cells]
        )
        due = {
            submission.student_id: repr((submission.timestamp, found.duedate and submission.duedate))
            for submission in found.submissions
        }
    return {
        student: _stamp(coursedir, assignment, student, [contact, repr(points), due[student], *sorted(own)])
        for student, own in rows.items()
    }


def _stamp(coursedir: Any, assignment: str, student: str, rows: list[str]) -> str:
    digest = hashlib.sha256("\n".join(rows).encode("utf-8", "replace"))
    for path in notebooks_in(str(autograded_folder(coursedir, student, assignment))):
        with contextlib.suppress(OSError):  # the page cannot be made, and says so
            digest.update(Path(path).read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def marks_preserved(coursedir: Any, assignment: str, student: str) -> Iterator[None]:
    """Restore the automatic marks of a submission that are overwritten inside this context."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        saved = {grade.id: (grade.auto_score, grade.needs_manual_grade) for grade in _grades(book, assignment, student)}
    yield
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for grade in _grades(book, assignment, student):
            grade.auto_score, grade.needs_manual_grade = saved.get(grade.id, (None, False))
        book.db.commit()


def _grades(book: Gradebook, assignment: str, student: str) -> list[Any]:
    """A submission's grades; empty if there is no submission."""
    with contextlib.suppress(MissingEntry):
        return [grade for notebook in book.find_submission(assignment, student).notebooks for grade in notebook.grades]
    return []
