"""`autograder dev adopt`: what an existing nbgrader course gains and loses, notebook by notebook. It changes nothing.

Each source notebook is graded in the sandbox, and should get all points.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from autograder.authoring.course_check import mark
from autograder.authoring.empty_tests import always_true_cells
from autograder.course.assignments import Assignment, Course
from autograder.course.source_notebook import SourceNotebook
from autograder.errors import CourseError, SubmissionError
from autograder.submission import read_notebook
from autograder.worker.worker import Worker, one_worker

GAINED = (
    "a crash, a loop or too much memory costs its own test cell, in a sandbox without a network",
    "students' edits of other cells are undone; no message or page shows hidden lines",
)
LIMIT = (
    "as with only nbgrader, tests of plain asserts run beside the student's code, so students can read or cheat them "
    "on purpose"
)


@dataclass
class Adopted:
    """Sentences on one notebook."""

    place: str
    works: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    gained: list[str] = field(default_factory=list)


def adopt(course: Course) -> Iterator[Adopted]:
    """What works, is lost and is gained, for each folder in source/."""
    with one_worker(course) as worker:
        for name in course.names:
            try:
                assignment = course.assignment(name)
                yield _adopted(assignment, worker)
            except (CourseError, SubmissionError) as error:
                yield Adopted(name, lost=[str(error)])


def _adopted(assignment: Assignment, worker: Worker) -> Adopted:
    found = Adopted(f"{assignment.name}/{assignment.notebook.name}")
    notebook, tests = assignment.source, assignment.source.assert_cells
    points = sum(assignment.graded_cells[cell.grade_id] for cell in tests.values())
    hidden = sum(bool(cell.hidden) for cell in tests.values())
    found.works.append(f"cells of tests: {len(tests)}, with hidden ones: {hidden}, points: {points:g}")
    if by_suite := assignment.by_suite:
        found.works.append(f"judged by a suite: {', '.join(exercise.name for exercise in by_suite)}")
    if by_hand := _by_hand(notebook):
        found.works.append(f"graded by a person: {', '.join(by_hand)}")
    if files := list(assignment.beside):
        found.works.append(f"files beside the notebook are there when it is graded: {', '.join(files[:5])}")
    found.lost += _lost(notebook)
    found.lost += [f"cell '{one.cell}': {one.what}. {one.remedy}" for one in always_true_cells(assignment)]
    report = mark(worker, assignment, read_notebook(assignment.notebook))
    if report.reason:
        found.lost.append(f"the source notebook cannot be graded: {report.reason}")
    wrong = [result for result in report.exercises if result.score < result.max_score]
    for result in wrong:
        message = next(test.message for test in result.tests if test.state != "passed") or "part of its points"
        why = f"{message}. {result.evidence}" if result.evidence else message
        found.lost.append(f"'{result.name}' does not give the source notebook its points: {why}")
    if not wrong and not report.reason:
        found.works.append(f"the source notebook has all {report.max_score:g} points")
    found.gained += GAINED if tests else []
    if names := _functions(notebook):
        found.gained.append(f"could be judged by a suite, one at a time, with partial credit: {', '.join(names)}")
    if tests:
        found.lost.append(LIMIT)
    return found


def _by_hand(notebook: SourceNotebook) -> list[str]:
    graded = [cell.nbgrader for cell in notebook.cells if cell.grade_id]
    return [cell.grade_id for cell in graded if cell.task or (cell.grade and cell.solution)]


def _lost(notebook: SourceNotebook) -> Iterator[str]:
    """What the notebook's code does that is impossible when it is graded."""
    code = "\n".join(cell.text for cell in notebook.cells if cell.cell_type == "code")
    if "input(" in code:
        yield "nobody types at input(): it raises EOFError"
    if any(word in code for word in ("requests.", "urllib.request", "!pip", "%pip")):
        yield "there is no network: what is downloaded or installed in a cell is not there"


def _functions(notebook: SourceNotebook) -> list[str]:
    """Functions and classes that students write, which a suite could call."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.nbgrader.solution and not cell.nbgrader.grade:
            with contextlib.suppress(SyntaxError):
                body = ast.parse(cell.text).body
                found += [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return found


def as_lines(found: Adopted) -> Iterator[str]:
    """The findings as lines for a terminal."""
    yield found.place
    for label in ("works", "lost", "gained"):
        for number, sentence in enumerate(getattr(found, label)):
            yield f"  {label if number == 0 else '':<7} {sentence}"
