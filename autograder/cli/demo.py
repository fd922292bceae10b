"""`autograder demo`: release, collect, grade and give feedback for a small class, through the real nbgrader."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from autograder.authoring.sample_class import fill, hand_in, is_written_out, model_answers, stands_alone, text_of
from autograder.cli.options import say
from autograder.course.assignments import CONFIG, Assignment, Course
from autograder.errors import CourseError
from autograder.nbgrader import api, must
from autograder.reports.rubric import points
from autograder.testing.catalogue import read_catalogue

Answers = dict[str, str]
Score = tuple[str, str]  # points, and out of how many
ASSIGNMENTS = 4  # the course's first; they show every kind of student in a minute
# The limit is a time by the clock, so the loop sleeps and leaves the processor to the others.
LOOP = '''
def {name}(*args, **kwargs):
    """Waits for something that never comes."""
    import time
    while True:
        time.sleep(1)
'''
CRASH = '''
def {name}(*args, **kwargs):
    """Reads a place in memory that is not there."""
    import ctypes
    return ctypes.string_at(0)
'''


@dataclass(frozen=True)
class DemoStudent:
    """A student of the demo's class. `answers` are what they hand in for an assignment, by exercise."""

    name: str
    about: str
    answers: Callable[[Assignment], Answers]


def _half(assignment: Assignment) -> Answers:
    answers = model_answers(assignment)
    names = [exercise.name for exercise in assignment.exercises]
    return {name: answers[name] for name in names[: len(names) // 2]}


def _with_mistake(number: int, assignment: Assignment) -> Answers:
    written = filter(is_written_out, read_catalogue(assignment.mistakes))
    functions = [entry for entry in written if inspect.isfunction(entry.code)]
    start = number * len(functions) // 3
    for entry in functions[start:] + functions:
        if stands_alone(assignment, text_of(entry.code)):
            return model_answers(assignment) | {entry.exercise: text_of(entry.code)}
    return model_answers(assignment)


def _with_first(code: str, only: str, assignment: Assignment) -> Answers:
    """Model answers, but `code` for the first exercise in assignments whose name begins with `only`."""
    first = assignment.exercises[0].name
    changed = {first: code.format(name=first)} if assignment.name.startswith(only) else {}
    return model_answers(assignment) | changed


CLASS = (
    DemoStudent("ada", "model answers", model_answers),
    DemoStudent("ben", "half done", _half),
    DemoStudent("chloe", "typical mistakes", partial(_with_mistake, 1)),
    DemoStudent("dmitri", "other mistakes", partial(_with_mistake, 2)),
    DemoStudent("eve", "untouched", lambda assignment: {}),
    DemoStudent("farid", "endless loop in a1", partial(_with_first, LOOP, "a1")),
    DemoStudent("grete", "crashes in each", partial(_with_first, CRASH, "")),
)


def run(folder: Path, course: Course, console: Console, sandbox: str) -> None:
    """Build the class below `folder`, grade it, and print its marks and where to look.

    Raises `CourseError` if `folder` holds something else than an earlier demo.
    """
    _copy_course(course, folder)
    assignments = list(Course(folder).assignments.values())
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True
    ) as progress:
        task = progress.add_task("", total=3 * len(assignments))
        for step in _steps(folder, assignments, sandbox):
            progress.update(task, description=f"{step:<45}", advance=1)
    console.print(marks_table(assignments, _scores(folder, assignments)))
    first = assignments[0]
    page = folder / "feedback" / "chloe" / first.name / f"{first.notebook.stem}.html"
    say(
        console,
        "\nWritten questions wait to be graded by hand.",
        f"What a student reads:   {page}",
        "",
        "After `. .venv/bin/activate`:",
        f"What a teacher sees:    cd {folder} && jupyter lab   (menu Nbgrader, Formgrader)",
        f"Once more, in detail:   autograder grade {folder}/submitted/chloe",
    )


def _copy_course(course: Course, folder: Path) -> None:
    mark = folder / ".autograder-demo"
    if folder.exists() and any(folder.iterdir()) and not mark.is_file():
        raise CourseError(f"{folder} is not empty and not an earlier demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.touch()
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for assignment in list(course.assignments)[:ASSIGNMENTS]:
        for name in ("source", "solutions"):
            shutil.copytree(course.root / name / assignment, folder / name / assignment, ignore=ignored)
    shutil.copy(course.root / CONFIG, folder / CONFIG)


def _steps(folder: Path, assignments: list[Assignment], sandbox: str) -> Iterator[str]:
    """Release, grade and give feedback; yields what was done after each step."""
    nbgrader = api(folder)
    nbgrader.config.Mark.sandbox = sandbox
    for assignment in assignments:
        must(nbgrader.generate_assignment(assignment.name), f"release {assignment.name}")
        for student in CLASS:
            notebook = fill(assignment.released, student.answers(assignment))
            hand_in(notebook, folder / "submitted", student.name, assignment)
        yield f"released {assignment.name}"
        must(nbgrader.autograde(assignment.name, "*"), f"autograde {assignment.name}")
        yield f"graded {assignment.name}"
        must(nbgrader.generate_feedback(assignment.name), f"write feedback for {assignment.name}")
        yield f"feedback for {assignment.name}"


def _scores(folder: Path, assignments: list[Assignment]) -> list[list[Score]]:
    """The gradebook's marks: for each student of `CLASS`, one for each assignment."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder.resolve()}/gradebook.db") as gradebook:
        return [[_score(gradebook.find_submission(a.name, student.name)) for a in assignments] for student in CLASS]


def _score(submission: Any) -> Score:
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades if grade.cell.cell_type == "code"]
    return points(sum(grade.auto_score or 0.0 for grade in grades)), points(sum(grade.max_score for grade in grades))


def marks_table(assignments: list[Assignment], scores: list[list[Score]]) -> Table:
    """The marks of `CLASS` for a terminal."""
    table = Table(
        title="Marks in nbgrader's gradebook", title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    names = [assignment.name.split("_")[0] for assignment in assignments]
    for heading in ("student", "hands in", *names):
        table.add_column(heading, overflow="fold")
    for student, row in zip(CLASS, scores, strict=True):
        table.add_row(student.name, student.about, *(f"{score}/{maximum}" for score, maximum in row))
    return table
