"""What happens to a class in the middle of a term: `withdraw`, `extend`, `why`, `forget` and `similar`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from autograder.cli.options import Jobs, Kind, Note, SandboxKind, Student, Write, warn
from autograder.course import Assignment, check_cell, find_course
from autograder.discovery import find_submissions
from autograder.errors import AutograderError
from autograder.submission import grade_id
from autograder.text import printable, shown_name

OF_NOTEBOOK = "autograder"  # the key of a notebook's metadata that holds the course's wishes


def withdraw(
    exercise: Annotated[str, typer.Argument(help="The exercise that turned out to be unfair, or broken.")],
    out_of_total: Annotated[
        bool, typer.Option("--out-of-total", help="It counts for nobody, in place of full marks for everybody.")
    ] = False,
    back: Annotated[bool, typer.Option("--back", help="It counts again as it did before.")] = False,
    write: Write = False,
    note: Note = "",
    jobs: Jobs = 0,
    sandbox: Kind = SandboxKind.auto,
) -> None:
    """Withdraw an exercise: everybody who has handed in gets its points, or it no longer counts.

    It is judged as before, so an early mistake is still paid for once. Without --write, who gains and loses is shown,
    and nothing is written. `autograder regrade ASSIGNMENT --undo` takes marks back, and --back the withdrawal.
    """
    from autograder.cli import regrade

    if back and out_of_total:
        raise typer.BadParameter("--back and --out-of-total are two different things")
    course = find_course()
    assignment = course.of_exercise(exercise)
    warn(sandbox, course)
    words = " --out-of-total" * out_of_total + " --back" * back
    again, reason = f"autograder withdraw {exercise}{words}", f"{exercise} {'counts again' if back else 'withdrawn'}"
    with _withdrawn(assignment, exercise, out_of_total, back, keep=write):
        regrade.run(course, assignment.name, Console(), jobs, sandbox.value, write, "", note, again, reason)
    if write:
        print("The source notebook says so, too; autograder dev sync takes that over into the release.")


@contextmanager
def _withdrawn(assignment: Assignment, exercise: str, out_of_total: bool, back: bool, keep: bool) -> Iterator[None]:
    """The source notebook says so inside, and afterwards if it is to be kept."""
    path = assignment.notebook
    before = path.read_bytes()
    notebook = json.loads(before)
    wishes = notebook["metadata"].setdefault(OF_NOTEBOOK, {})
    known = wishes.setdefault("withdrawn", {})
    graded = check_cell(exercise, assignment.graded_cells)
    (cell,) = [cell for cell in notebook["cells"] if grade_id(cell) == graded]
    of_cell = cell["metadata"]["nbgrader"]
    worth = known.pop(exercise, of_cell["points"])
    if back:
        of_cell["points"] = worth
    else:
        known[exercise], of_cell["points"] = worth, 0 if out_of_total else worth
    if not known:
        del wishes["withdrawn"]
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    try:
        yield
    except BaseException:
        path.write_bytes(before)
        raise
    if not keep:
        path.write_bytes(before)


def extend(
    student: Student,
    assignment: Annotated[str, typer.Argument(help="The assignment that may come later.")],
    days: Annotated[float, typer.Option(help="Days after everybody's due date; 0 takes an extension back.")],
) -> None:
    """Give one student more time. It replaces an earlier extension, and a penalty is worked out anew.

    The feedback page says when the work was due.
    """
    from autograder.nbgrader import api, due, history

    course = find_course()
    found, nbgrader = course.assignment(assignment), api(course.root)
    when = due.extend(nbgrader, found, student, timedelta(days=days))
    history.record(nbgrader.coursedir, assignment, student, "extension", {}, f"due {due.shown(when)}")
    print(f"{shown_name(student)}: {assignment} is due {due.shown(when)}")


def why(
    student: Student,
    assignment: Annotated[str, typer.Argument(help="The assignment whose mark is asked about.")],
) -> None:
    """How a mark came about, in ten lines: what happened when, and what the tests say.

    While neither course nor kit has changed since, the submission that counts is graded anew, in the sandbox; else the
    report that was kept is shown. Exit code: 0, or 1 when grading anew gives another mark.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.why import lines

    course = find_course()
    told, same = lines(course.assignment(assignment), api(course.root), student)
    for line in told:
        Console().print(Text(printable(line)), soft_wrap=True)
    raise typer.Exit(0 if same else 1)


def forget(
    student: Student,
) -> None:
    """Delete a student's history: marks with their dates, submissions and reports that were kept.

    The gradebook and the course's folders stay as they are; what is where about a student is told.
    """
    from autograder.nbgrader.history import forget as remove

    course = find_course()
    print(f"{shown_name(student)}: " + ("the history is deleted" if remove(course.root, student) else "no history"))
    left = [name for name in ("submitted", "autograded", "feedback") if (course.root / name / student).is_dir()]
    for name in left:
        print(f"still there: {name}/{shown_name(student)}")
    print(f"the gradebook's rows: nbgrader db student remove {shown_name(student)} --force")


def similar(
    assignment: Annotated[str, typer.Argument(help="The assignment whose code is exported.")],
    folder: Annotated[Path, typer.Argument(help="Where it goes; a new folder.")],
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Files have no names; who is who is written beside the folder.")
    ] = False,
) -> None:
    """Each exercise as a .py for each student, for JPlag, Dolos and compare50; nothing is compared here.

    EXERCISE/students/ has the code, EXERCISE/base/base.py what is nobody's own: the stub, and lines that more than half
    have. Comments stay as students wrote them.
    """
    from autograder.reports.marks_file import write
    from autograder.reports.similar import files

    if folder.exists():
        raise AutograderError(f"{folder} is there already; name a new folder")
    course = find_course()
    found = course.assignment(assignment)
    released = course.root / "assignments" / assignment / found.notebook.name
    handed_in = find_submissions([course.root / "submitted"], course, assignment)
    count = 0
    for path, text in files(found, released, handed_in, folder, anonymous):
        write(path, text)
        count += path.parent.name == "students"
    print(f"wrote {count} files for {len(handed_in)} submissions into {folder}")
