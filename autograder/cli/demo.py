"""The whole course on one small class: release, hand in, autograde, feedback, through the real nbgrader."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from autograder.authoring.sample_class import fill, hand_in, is_written_out, mistake, model_answers
from autograder.course import CONFIG, Assignment, Course
from autograder.diagnosis.catalogue import read_catalogue
from autograder.errors import CourseError
from autograder.nbgrader import api, must
from autograder.reports.plain_text import points

Answers = dict[str, str]
Score = tuple[str, str]  # points, and how many there are
# Limits are those of a clock, so it need not take a processor from the others of the class.
LOOP = textwrap.dedent(
    '''
    def {name}(*args, **kwargs):
        """Waits for something that never comes."""
        import time
        while True:
            time.sleep(1)
    '''
)
CRASH = textwrap.dedent(
    '''
    def {name}(*args, **kwargs):
        """Reads a place in memory that is not there."""
        import ctypes
        return ctypes.string_at(0)
    '''
)


@dataclass(frozen=True)
class DemoStudent:
    """A student of the demo's class, and what they hand in."""

    name: str
    about: str
    answers: Callable[[Assignment], Answers]


@dataclass(frozen=True)
class StudentScores:
    """A student's marks, one for each assignment."""

    student: DemoStudent
    scores: list[Score]


def _half(assignment: Assignment) -> Answers:
    answers = model_answers(assignment)
    return {e.name: answers[e.name] for e in assignment.exercises[: len(assignment.exercises) // 2]}


def _with_mistake(number: int) -> Callable[[Assignment], Answers]:
    def answers(assignment: Assignment) -> Answers:
        written = filter(is_written_out, read_catalogue(assignment.mistakes))
        known = [one for one in written if inspect.isfunction(one.code)]
        if not known:
            return model_answers(assignment)
        one = known[(number + 1) * len(known) // 3]
        return model_answers(assignment) | mistake(assignment, one.name, one.exercise)

    return answers


def _with_first(code: str, only: str = "") -> Callable[[Assignment], Answers]:
    """Model answers, but `code` for the first exercise of the assignments whose name begins with `only`."""

    def answers(assignment: Assignment) -> Answers:
        first = assignment.exercises[0].name
        changed = {first: code.format(name=first)} if assignment.name.startswith(only) else {}
        return model_answers(assignment) | changed

    return answers


NAMES, MARK = 27, 9  # columns of the table: who, and a mark with what it is out of
CLASS = (
    DemoStudent("ada", "model answers", model_answers),
    DemoStudent("ben", "half done", _half),
    DemoStudent("chloe", "typical mistakes", _with_mistake(0)),
    DemoStudent("dmitri", "other mistakes", _with_mistake(1)),
    DemoStudent("eve", "untouched", lambda assignment: {}),
    DemoStudent("farid", "endless loop in a1", _with_first(LOOP, only="a1")),
    DemoStudent("grete", "crashes in each", _with_first(CRASH)),
)


def run(folder: Path, course: Course, console: Console) -> None:
    """Build the class below `folder`, grade it, and print its marks and where to look.

    Raises `CourseError` if `folder` holds something that is not an earlier demo.
    """
    _fresh(folder, course)
    assignments = list(Course(folder).assignments().values())
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True
    ) as progress:
        task = progress.add_task("", total=3 * len(assignments))
        for what in _steps(folder, assignments):
            progress.update(task, description=f"{what:<45}", advance=1)
    console.print(marks_table(assignments, _marks(folder, assignments), console.width))
    _where_to_look(folder, console)


def _fresh(folder: Path, course: Course) -> None:
    mark = folder / ".autograder-demo"
    if folder.exists() and any(folder.iterdir()) and not mark.is_file():
        raise CourseError(f"{folder} is not empty and no earlier demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.touch()
    for name in ("source", "solutions"):
        shutil.copytree(
            course.root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        )
    shutil.copy(course.root / CONFIG, folder / CONFIG)


def _steps(folder: Path, assignments: list[Assignment]) -> Iterator[str]:
    """Do the work; yields what was done."""
    nbgrader = api(folder)
    for assignment in assignments:
        must(nbgrader.generate_assignment(assignment.name), f"release {assignment.name}")
        released = folder / "assignments" / assignment.name / assignment.notebook.name
        for student in CLASS:
            hand_in(fill(released, student.answers(assignment)), folder / "submitted", student.name, assignment)
        yield f"released {assignment.name}"
        must(nbgrader.autograde(assignment.name, "*"), f"autograde {assignment.name}")
        yield f"graded {assignment.name}"
        must(nbgrader.generate_feedback(assignment.name), f"write feedback for {assignment.name}")
        yield f"feedback for {assignment.name}"


def _marks(folder: Path, assignments: list[Assignment]) -> list[StudentScores]:
    """The class's marks, as they stand in the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder.resolve()}/gradebook.db") as gradebook:
        return [
            StudentScores(student, [_score(gradebook.find_submission(a.name, student.name)) for a in assignments])
            for student in CLASS
        ]


def _score(submission: Any) -> Score:
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades if grade.cell.cell_type == "code"]
    return points(sum(g.auto_score or 0.0 for g in grades)), points(sum(g.max_score for g in grades))


def marks_table(assignments: list[Assignment], rows: list[StudentScores], width: int) -> Table:
    """The marks for a terminal of so many columns: in a narrow one, what an assignment is worth is in its heading."""
    wide = width >= NAMES + MARK * len(assignments)
    table = Table(
        title="Marks in nbgrader's gradebook", title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    names = [assignment.name.split("_")[0] for assignment in assignments]
    worth = [f"{name}/{points(a.max_score)}" for name, a in zip(names, assignments, strict=True)]
    for heading in ("student", "hands in", *(names if wide else worth)):
        table.add_column(heading, overflow="fold")
    for row in rows:
        scores = [f"{score}/{most}" if wide else score for score, most in row.scores]
        table.add_row(row.student.name, row.student.about, *scores)
    return table


def _where_to_look(folder: Path, console: Console) -> None:
    first = next(iter(Course(folder).assignments().values()))
    page = folder / "feedback" / "chloe" / first.name / f"{first.notebook.stem}.html"
    lines = (
        "Written questions wait to be graded by hand.",
        f"What a student reads:   {page}",
        "",
        "After `. .venv/bin/activate`:",
        f"What a teacher sees:    cd {folder} && jupyter lab   (menu Nbgrader, Formgrader)",
        f"Once more, in detail:   autograder grade {folder}/submitted/chloe",
    )
    console.print(Text("\n" + "\n".join(lines)), soft_wrap=True)
