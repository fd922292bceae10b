"""Written answers: reads them from the gradebook for a page to grade them on, and enters what was decided there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry

from autograder.course.assignments import Assignment, Written
from autograder.errors import AutograderError, SubmissionError
from autograder.nbgrader import history
from autograder.nbgrader.gradebook_rows import autograded_folder
from autograder.nbgrader.pages import OwnRenderer
from autograder.reports.rubric import points
from autograder.reports.written import Decision, WrittenAnswer, WrittenQuestion
from autograder.submission import NotebookCell, read_notebook
from autograder.text import printable


def questions(coursedir: Any, assignment: Assignment) -> list[WrittenQuestion]:
    """Each written question with all answers. Raises `AutograderError` if there is none to grade."""
    written = assignment.written
    if not written:
        raise AutograderError(f"{assignment.name} has no written question")
    found: dict[str, list[WrittenAnswer]] = {name: [] for name in written}
    unanswered = dict.fromkeys(written, 0)
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for student, grades, comments in _graded(book, assignment):
            cells = _text_cells(coursedir, student, assignment)
            for name in written.keys() & grades.keys() & cells.keys():
                if grades[name].auto_score is not None and grades[name].manual_score is None:
                    unanswered[name] += 1  # nbgrader gives it 0
                else:
                    found[name].append(_answer(student, cells[name], grades[name], comments.get(name)))
    if not any(found.values()) and not any(unanswered.values()):
        raise AutograderError(f"nothing of {assignment.name} is graded yet; run autograder grade --gradebook")
    maximum = assignment.graded_cells
    return [_question(name, maximum[name], written[name], found[name], unanswered[name]) for name in written]


def _graded(book: Gradebook, assignment: Assignment) -> Iterator[tuple[str, dict[str, Grade], dict[str, Comment]]]:
    """Each student's grades and comments by cell."""
    try:
        submissions = book.assignment_submissions(assignment.name)
    except MissingEntry:
        return
    for submission in submissions:
        grades = {grade.name: grade for notebook in submission.notebooks for grade in notebook.grades}
        comments = {comment.name: comment for notebook in submission.notebooks for comment in notebook.comments}
        yield submission.student_id, grades, comments


def _text_cells(coursedir: Any, student: str, assignment: Assignment) -> dict[str, NotebookCell]:
    """The Markdown cells of a student's graded notebook, by grade_id; empty if it cannot be read."""
    try:
        cells = read_notebook(autograded_folder(coursedir, student, assignment.name) / assignment.notebook.name).cells
    except SubmissionError:
        return {}
    return {cell.grade_id: cell for cell in cells if cell.cell_type == "markdown"}


def _answer(student: str, cell: NotebookCell, grade: Any, comment: Any) -> WrittenAnswer:
    text = (comment.manual_comment or "") if comment is not None else ""
    waits = bool(grade.needs_manual_grade)
    pasted = tuple(item for kinds in cell.attachments.values() for item in kinds.items())
    return WrittenAnswer(student, cell.source, grade.manual_score, text, waits, pasted)


def _question(
    name: str, maximum: float, written: Written, answers: Sequence[WrittenAnswer], unanswered: int
) -> WrittenQuestion:
    lines = tuple((points, _html(text), text) for points, text in written.rubric)
    return WrittenQuestion(name, maximum, _html(written.answer), lines, tuple(answers), unanswered)


def _html(text: str) -> str:
    """Markdown of the course's own as HTML."""
    return str(MarkdownWithMath(renderer=OwnRenderer(escape=True)).render(text)).strip()


def enter(coursedir: Any, assignment: Assignment, decisions: Sequence[Decision]) -> tuple[int, list[str]]:
    """Enter all decisions. Returns how many were entered, and a sentence for each that was left out.

    A decision is left out if something has changed since the page was made: the answer, or a person's grade.
    Raises `AutograderError` and enters nothing if a score is impossible.
    """
    maximum = assignment.graded_cells
    for decision in decisions:
        if decision.question not in assignment.written:
            raise AutograderError(f"{assignment.name} has no written question {printable(decision.question)!r}")
        if not 0 <= decision.score <= maximum[decision.question]:
            most = points(maximum[decision.question])
            raise AutograderError(
                f"{printable(decision.student)}: {decision.score:g} points; {decision.question} has 0 to {most}"
            )
    left, entered = list[str](), set[str]()
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for decision in decisions:
            if reason := _enter(book, coursedir, assignment, decision):
                left.append(f"{printable(decision.student)}, {decision.question}: {reason}")
            else:
                entered.add(decision.student)
        book.db.commit()
    for student in sorted(entered):
        with contextlib.suppress(OSError):  # the grade is entered; a later entry will contain it
            history.record(coursedir, assignment.name, student, history.BY_HAND)
    return len(decisions) - len(left), left


def _enter(book: Gradebook, coursedir: Any, assignment: Assignment, decision: Decision) -> str:
    """Enter one decision. Returns why it was left out, or ""."""
    names = (decision.question, assignment.notebook.stem, assignment.name, decision.student)
    try:
        grade, comment = book.find_grade(*names), book.find_comment(*names)
    except MissingEntry:
        return "the gradebook has no such answer"
    cell = _text_cells(coursedir, decision.student, assignment).get(decision.question)
    if cell is None or WrittenAnswer(decision.student, cell.source).digest != decision.answer:
        return "the answer has changed; make the page again"
    if grade.manual_score not in (decision.before, decision.score):
        return "somebody has graded it since; it is left as it is"
    grade.manual_score, grade.needs_manual_grade = decision.score, False
    if decision.comment is not None:
        comment.manual_comment = decision.comment or None
    return ""
