"""An instructor's commands beside `grade`: what is done with marks, and with a class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from autograder.cli.options import Jobs, Kind, Note, SandboxKind, Visibility, Write, must_be_writable, warn
from autograder.course import find_course
from autograder.text import alike, shown_name

Marks = Annotated[list[Path], typer.Argument(help="What `autograder grade --json` wrote, one file or more.")]
Roster = Annotated[
    Path | None, typer.Option(help="A CSV file (id, name, email): who has handed in nothing is named, too.")
]


def regrade(
    assignment: Annotated[str, typer.Argument(help="The assignment whose suite or points have changed.")],
    write: Write = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what the last --write changed.")] = False,
    student: Annotated[str, typer.Option(help="This student alone, by the id.")] = "",
    note: Note = "",
    jobs: Jobs = 0,
    sandbox: Kind = SandboxKind.auto,
) -> None:
    """After a suite or points have changed: who gains, who loses, and by how much. Without --write nothing is written.

    Manual grades and comments are kept. Needs the gradebook that nbgrader wrote.
    """
    from autograder.cli import regrade as again

    if write and undo:
        raise typer.BadParameter("--write and --undo are two different things")
    course = find_course()
    if undo:
        again.undo(course, assignment, Console())
        return
    warn(sandbox, course)
    again.run(course, assignment, Console(), jobs, sandbox.value, write, student, note)


def roster(
    file: Annotated[Path, typer.Argument(help="A CSV file with the columns id, name and email.")],
) -> None:
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
    for name in [name for name in folders if name not in ids]:
        print(f"submitted/{shown_name(name)}: nobody in the roster has this id")


def report(
    marks: Marks,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at or print: one file, no network.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the numbers as a table.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers as JSON.")] = None,
    roster: Roster = None,
    submitted: Annotated[
        Path | None, typer.Option(help="With --html: a folder of submissions, for a sample of code of each mistake.")
    ] = None,
    feedback: Annotated[
        Path | None, typer.Option(help="With --html: the folder of feedback pages, to which names are links.")
    ] = None,
    gradebook: Annotated[
        bool, typer.Option("--gradebook", help="With --html: late work and manual grades, from nbgrader's gradebook.")
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

    reports, everybody = read_marks(marks), _ids(roster)
    found = class_statistics(reports, everybody)

    told = _told_of_marks() if gradebook else {}

    def page(rates: Any) -> str:
        notebooks = {name: one.notebook.stem for name, one in find_course().assignments().items()} if feedback else {}
        beside = what_is_beside(reports, everybody, html, submitted, feedback, told, notebooks)
        return class_report.as_html(rates, beside)

    formats = {html: page, csv: class_report.as_table, json_file: class_report.as_json}
    wanted = {path: make for path, make in formats.items() if path is not None}
    for path, make in wanted.items():
        write(path, make(found))
        print(f"wrote {path}")
    if not wanted:
        class_report.show(found, Console())


def _told_of_marks() -> dict[tuple[str, str], str]:
    from autograder.nbgrader import api
    from autograder.nbgrader.gradebook_rows import messages_of_marks

    return messages_of_marks(api(find_course().root).coursedir)


def _ids(roster: Path | None) -> list[str]:
    from autograder.reports.roster import read_roster

    return [person.id for person in read_roster(roster)] if roster else []


def export(
    marks: Marks,
    csv: Annotated[Path | None, typer.Option(help="Write a table, one row for each exercise.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, one test suite a submission.")] = None,
    gradescope: Annotated[
        Path | None, typer.Option(help="Write Gradescope's STUDENT/ASSIGNMENT/results.json below this folder.")
    ] = None,
    classroom50: Annotated[
        Path | None, typer.Option(help="Write Classroom 50's result.json, of one submission.")
    ] = None,
    points: Annotated[str, typer.Option(help="With --classroom50: points by exercise, such as median=4,mode=5.")] = "",
    visibility: Annotated[
        Visibility, typer.Option(help="With --gradescope: when students see their results.")
    ] = Visibility.visible,
    messages: Annotated[
        bool, typer.Option("--messages/--no-messages", help="With --gradescope: what tests say of the student's code.")
    ] = True,
    roster: Roster = None,
) -> None:
    """Marks in the forms that other programs read; several at once if asked for.

    Whoever is in one assignment, or in the roster, has a row in every other, too.
    """
    from autograder.reports import export as forms
    from autograder.reports.classroom50 import as_classroom50, read_points
    from autograder.reports.marks_file import read_marks, write
    from autograder.reports.roster import with_absent

    if csv is None and junit is None and gradescope is None and classroom50 is None:
        raise typer.BadParameter("name at least one of --csv, --junit, --gradescope and --classroom50")
    reports = with_absent(read_marks(marks), _ids(roster))
    for names in alike(report.student for report in reports):
        print(f"{' and '.join(map(shown_name, names))} look alike; they are {len(names)} students, with a row each")
    if csv is not None:
        write(csv, forms.exercises_as_csv(reports))
    if junit is not None:
        write(junit, forms.as_junit(reports))
    if gradescope is not None:
        for path, text in forms.gradescope_files(reports, gradescope, visibility.value, messages):
            write(path, text)
    if classroom50 is not None:
        if len(reports) > 1:
            raise typer.BadParameter("--classroom50 is for one submission")
        write(classroom50, as_classroom50(reports[0] if reports else None, read_points(points), os.environ))
    for wanted in (csv, junit, gradescope, classroom50):
        if wanted is not None:
            print(f"wrote {wanted}")


def bundle(
    assignment: Annotated[str, typer.Argument(help="The assignment that is to be graded elsewhere.")],
    gradescope: Annotated[
        Path | None, typer.Option(help="Write Gradescope's autograder here, a zip; it holds the hidden tests.")
    ] = None,
    classroom50: Annotated[
        Path | None, typer.Option(help="Write Classroom 50's autograder into this folder; it runs the visible tests.")
    ] = None,
    requirement: Annotated[
        list[str] | None,
        typer.Option(help="For Classroom 50: what pip installs; the wheels in that folder if none is named."),
    ] = None,
    visibility: Annotated[
        Visibility, typer.Option(help="For Gradescope: when students see their results.")
    ] = Visibility.after_due_date,
    without_sandbox: Annotated[
        bool,
        typer.Option(
            "--without-sandbox", help="For Gradescope: grade though code can read suites; messages are left out."
        ),
    ] = False,
) -> None:
    """What grades elsewhere: Gradescope's autograder with the hidden tests, Classroom 50's with the visible ones.

    Gradescope's holds this assignment alone, and grades nothing in a container where no sandbox works.
    """
    from autograder.cli.bundle import write_classroom50, write_gradescope

    if gradescope is None and classroom50 is None:
        raise typer.BadParameter("name --gradescope, --classroom50, or both")
    found = find_course().assignment(assignment)
    if gradescope is not None:
        must_be_writable(gradescope)
        write_gradescope(found, gradescope, visibility.value, not without_sandbox)
        print(f"wrote {gradescope}")
    if classroom50 is not None:
        print(f"wrote {write_classroom50(found, classroom50, requirement or ())}")
