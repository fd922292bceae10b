"""`regrade`, `roster` and `report`: marks and people of a class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from rich.console import Console
from typer import Argument, BadParameter, Option

from autograder.cli.options import Jobs, Kind, Marks, Note, Roster, Write, ids_in, warn
from autograder.course import find_course
from autograder.text import shown_name


def regrade(
    assignment: Annotated[str, Argument(help="The assignment whose suite or points have changed.")],
    write: Write = False,
    undo: Annotated[bool, Option("--undo", help="Bring back what the last --write changed.")] = False,
    student: Annotated[str, Option(help="This student alone, by the id.")] = "",
    note: Note = "",
    jobs: Jobs = 0,
    sandbox: Kind = "auto",
) -> None:
    """After a suite or points have changed: who gains, who loses, and by how much. Without --write nothing is written.

    Manual grades and comments are kept. Needs the gradebook that nbgrader wrote.
    """
    from autograder.cli.regrade import run
    from autograder.cli.regrade import undo as undo_last

    if write and undo:
        raise BadParameter("--write and --undo are two different things")
    course = find_course()
    if undo:
        undo_last(course, assignment, Console())
        return
    warn(sandbox, course)
    run(course, assignment, Console(), jobs, sandbox, write, student, note)


def roster(file: Annotated[Path, Argument(help="A CSV file with the columns id, name and email.")]) -> None:
    """Enter who is in the class into the gradebook: formgrader then shows names, and exports have a row for everybody.

    An id is the name of the student's folder in submitted/. If you run it again, names and addresses are brought up to
    date, and nobody is taken away.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.gradebook_rows import enter_students
    from autograder.reports.roster import read_roster

    people, course = read_roster(file), find_course()
    fresh = enter_students(api(course.root).coursedir, people)
    print(f"entered {len(people)} students, {fresh} of them new to the gradebook")
    ids = {person.id for person in people}
    handed_in = course.root / "submitted"
    folders = sorted(path.name for path in handed_in.iterdir() if path.is_dir()) if handed_in.is_dir() else []
    for name in folders:
        if name not in ids:
            print(f"submitted/{shown_name(name)}: nobody in the roster has this id")


def report(
    marks: Marks,
    html: Annotated[Path | None, Option(help="Write a page to look at or print: one file, no network.")] = None,
    csv: Annotated[Path | None, Option(help="Write the numbers as a table.")] = None,
    json_file: Annotated[Path | None, Option("--json", help="Write the numbers as JSON.")] = None,
    roster: Roster = None,
    submitted: Annotated[
        Path | None, Option(help="With --html: a folder of submissions, for a sample of code of each mistake.")
    ] = None,
    feedback: Annotated[
        Path | None, Option(help="With --html: the folder of feedback pages, to which names are links.")
    ] = None,
    gradebook: Annotated[
        bool, Option("--gradebook", help="With --html: late work and manual grades, from nbgrader's gradebook.")
    ] = False,
) -> None:
    """How the class is doing: marks, exercises, tests, the most common mistakes, and who needs help.

    If you ask for no file, it is shown in the terminal. If there are two marks for the same student and assignment, the
    later one counts. Nobody's work is compared with anybody else's.
    """
    from autograder.cli.beside_report import what_is_beside
    from autograder.reports import class_report
    from autograder.reports.class_statistics import class_statistics
    from autograder.reports.marks_file import read_marks, write

    reports, everybody = read_marks(marks), ids_in(roster)
    statistics = class_statistics(reports, everybody)
    notes: dict[tuple[str, str], str] = {}
    if gradebook:
        from autograder.nbgrader import api
        from autograder.nbgrader.gradebook_rows import messages_of_marks

        notes = messages_of_marks(api(find_course().root).coursedir)

    formats: dict[Path | None, Callable[..., str]] = {csv: class_report.as_table, json_file: class_report.as_json}
    if html is not None:
        beside = what_is_beside(reports, everybody, html, submitted, feedback, notes)
        formats = {html: functools.partial(class_report.as_html, beside=beside), **formats}
    for path, text in formats.items():
        if path is not None:
            write(path, text(statistics))
            print(f"wrote {path}")
    if not any(formats):
        class_report.show(statistics, Console())
