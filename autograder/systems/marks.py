"""Everybody's marks in the gradebook: with manual grades, less penalties for late work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Gradebook

from autograder.course.assignments import CHECK, Assignment
from autograder.nbgrader.feedback_page import to_look_at_again
from autograder.nbgrader.gradebook_export import GradingStatus, grading_statuses
from autograder.nbgrader.gradebook_rows import total


@dataclass(frozen=True)
class StudentMarks:
    """One student's marks now. `score` is None if there are none; `problem` says why, or what is not final."""

    student: str
    name: str
    score: float | None
    max_score: float
    problem: str = ""


def marks_in_gradebook(nbgrader: Any, assignment: Assignment) -> list[StudentMarks]:
    """Everybody's marks in the gradebook, with manual grades, less penalties for late work."""
    coursedir = nbgrader.coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return [_marks(status) for status in grading_statuses(book, coursedir) if status.assignment == assignment.name]


def _marks(status: GradingStatus) -> StudentMarks:
    person, problem = status.student, status.problem
    name = ", ".join(word for word in (person.last_name, person.first_name) if word) or person.id
    if status.submission is None:
        return StudentMarks(person.id, name, None, status.max_score, problem)
    notebooks = status.submission.notebooks
    score = round(sum(total(n.score, n.late_submission_penalty) for n in notebooks), 2)
    problem = problem or "; ".join(_not_final(notebooks))
    return StudentMarks(person.id, name, score, status.max_score, problem)


def _not_final(notebooks: Sequence[Any]) -> Iterator[str]:
    """A sentence for what waits for a person, and one for what a person has to look at again."""
    again = [name for notebook in notebooks for name in to_look_at_again(notebook)]
    waits = sum(grade.needs_manual_grade for n in notebooks for grade in n.grades) - len(again)
    if waits:
        yield f"{waits} of the cells wait for a person; this is the sum without them"
    if again:
        names = ", ".join(name.removeprefix(CHECK) for name in again)
        yield f"a person's points for {names} are for an earlier answer and wait for another look; they are in this sum"
