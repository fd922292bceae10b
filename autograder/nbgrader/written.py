"""Written answers of the gradebook, for a page to grade them on, and what was decided there back into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry

from autograder.course import Assignment, Written
from autograder.errors import AutograderError, SubmissionError
from autograder.nbgrader import history
from autograder.nbgrader.pages import OwnRenderer
from autograder.reports.plain_text import points
from autograder.reports.written import Answer, Decision, Question
from autograder.submission import NotebookCell, read_notebook
from autograder.text import printable


def questions(coursedir: Any, assignment: Assignment) -> list[Question]:
    """Each written question with everybody's answer. Raises `AutograderError` if there is none to grade."""
    written = assignment.written
    if not written:
        raise AutograderError(f"{assignment.name} has no written question")
    found: dict[str, list[Answer]] = {name: [] for name in written}
    untouched = dict.fromkeys(written, 0)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for student, grades, comments in _graded(book, assignment):
            texts = _texts(_autograded(coursedir, student, assignment))
            for name in written.keys() & grades.keys() & texts.keys():
                if grades[name].auto_score is not None and grades[name].manual_score is None:
                    untouched[name] += 1  # nbgrader gives it 0
                else:
                    found[name].append(_answer(student, texts[name], grades[name], comments.get(name)))
    if not any(found.values()) and not any(untouched.values()):
        raise AutograderError(f"nothing of {assignment.name} is graded yet; run autograder grade --gradebook")
    cells = assignment.graded_cells
    return [_question(name, cells[name], written[name], found[name], untouched[name]) for name in written]


def _graded(book: Gradebook, assignment: Assignment) -> Iterator[tuple[str, dict[str, Grade], dict[str, Comment]]]:
    """Each student's grades and comments by cell."""
    try:
        submissions = book.assignment_submissions(assignment.name)
    except MissingEntry:
        return
    for submission in submissions:
        grades = {grade.name: grade for notebook in submission.notebooks for grade in notebook.grades}
        comments = {one.name: one for notebook in submission.notebooks for one in notebook.comments}
        yield submission.student_id, grades, comments


def _autograded(coursedir: Any, student: str, assignment: Assignment) -> Path:
    folder = coursedir.format_path(coursedir.autograded_directory, student, assignment.name)
    return Path(folder, assignment.notebook.name)


def _texts(path: Path) -> dict[str, NotebookCell]:
    """A graded notebook's cells in words, by grade_id; none if it cannot be read."""
    try:
        return {cell.grade_id: cell for cell in read_notebook(path).cells if cell.cell_type == "markdown"}
    except SubmissionError:
        return {}


def _answer(student: str, cell: NotebookCell, grade: Any, comment: Any) -> Answer:
    said = (comment.manual_comment or "") if comment is not None else ""
    waits = bool(grade.needs_manual_grade)
    return Answer(student, cell.source, grade.manual_score, said, waits, bool(cell.attachments))


def _question(name: str, worth: float, written: Written, answers: Sequence[Answer], untouched: int) -> Question:
    lines = tuple((points, _html(text), text) for points, text in written.rubric)
    return Question(name, worth, _html(written.answer), lines, tuple(answers), untouched)


def _html(text: str) -> str:
    """The course's own Markdown."""
    return str(MarkdownWithMath(renderer=OwnRenderer(escape=True)).render(text)).strip()


def enter(coursedir: Any, assignment: Assignment, decisions: Sequence[Decision]) -> tuple[int, list[str]]:
    """Enter what was decided, all of it or, if a score is impossible, nothing. Returns how many, and what was left out.

    Left out is whatever has changed since the page was made: another answer, or a grade that a person has given.
    Raises `AutograderError` with the decision that cannot be.
    """
    worth = assignment.graded_cells
    for one in decisions:
        if one.question not in assignment.written:
            raise AutograderError(f"{assignment.name} has no written question {printable(one.question)!r}")
        if not 0 <= one.score <= worth[one.question]:
            most = points(worth[one.question])
            raise AutograderError(f"{printable(one.student)}: {one.score:g} points; {one.question} has 0 to {most}")
    left, entered = list[str](), set[str]()
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for one in decisions:
            try:
                _enter(book, coursedir, assignment, one)
                entered.add(one.student)
            except _Changed as changed:
                left.append(f"{printable(one.student)}, {one.question}: {changed}")
        book.db.commit()
    for student in sorted(entered):
        history.record(coursedir, assignment.name, student, history.BY_HAND, {})
    return len(decisions) - len(left), left


class _Changed(Exception):
    """A decision was on something that is no more."""


def _enter(book: Gradebook, coursedir: Any, assignment: Assignment, one: Decision) -> None:
    place = (one.question, assignment.notebook.stem, assignment.name, one.student)
    try:
        grade, comment = book.find_grade(*place), book.find_comment(*place)
    except MissingEntry:
        raise _Changed("the gradebook has no such answer") from None
    cell = _texts(_autograded(coursedir, one.student, assignment)).get(one.question)
    if cell is None or Answer(one.student, cell.source).digest != one.answer:
        raise _Changed("the answer is another one now; make the page again")
    if grade.manual_score != one.before and grade.manual_score != one.score:
        raise _Changed("somebody has graded it since; it is left as it is")
    grade.manual_score, grade.needs_manual_grade = one.score, False
    if one.comment:
        comment.manual_comment = one.comment
