"""The instructor's commands, as the command line shows them: report, export, bundle, regrade, and those of `dev`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from autograder.commands.options import SandboxKind, Visibility, must_be_writable, warn
from autograder.commands.return_marks import return_
from autograder.commands.written import written
from autograder.course import find_course
from autograder.text import printable


def register(app: typer.Typer, dev: typer.Typer) -> None:
    """Add the commands, each with a line to paste."""
    app.command(epilog="Example: autograder regrade a1_scaled_dot_product --write")(regrade)
    app.command(epilog="Example: autograder roster students.csv")(roster)
    app.command(epilog="Example: autograder report marks.json --html class.html")(report)
    app.command(epilog="Example: autograder export marks.json --csv exercises.csv --junit marks.xml")(export)
    app.command("return", epilog="Example: autograder return a1_scaled_dot_product --to canvas --marks a1.csv")(return_)
    app.command(epilog="Example: autograder written a1_scaled_dot_product --page written.html")(written)
    app.command(epilog="Example: autograder bundle a1_scaled_dot_product --gradescope a1.zip")(bundle)
    dev.command("check", epilog="Example: autograder dev check a1_scaled_dot_product")(dev_check)
    dev.command(epilog="Example: autograder dev docs")(docs)
    dev.command(epilog="Example: autograder dev dist dist --address https://example.edu/kit.whl")(dist)
    dev.command("ready-made", epilog="Example: autograder dev ready-made")(ready_made)
    dev.command("new-course", epilog="Example: autograder dev new-course statistics")(new_course)
    dev.command("new-assignment", epilog="Example: autograder dev new-assignment a8_pooling max_pool")(new_assignment)
    dev.command(epilog="Example: autograder dev new a1_scaled_dot_product row_centred")(new)


def regrade(
    assignment: Annotated[str, typer.Argument(help="The assignment whose suite or points have changed.")],
    write: Annotated[bool, typer.Option("--write", help="Write the new marks, after saving the old ones.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what the last --write changed.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Desks side by side; 0: one a core from 60 submissions on.")] = 0,
    sandbox: Annotated[
        SandboxKind, typer.Option(help="auto uses bubblewrap if it works, else Landlock, and warns if neither does.")
    ] = SandboxKind.auto,
) -> None:
    """After a suite or points have changed: who gains, who loses, and by how much. Without --write nothing is written.

    Manual grades and comments are kept. Needs the gradebook that nbgrader wrote.
    """
    from autograder.commands import regrade as again

    if write and undo:
        raise typer.BadParameter("--write and --undo are two different things")
    course = find_course()
    if undo:
        again.undo(course, assignment, Console())
        return
    warn(sandbox, course)
    again.run(course, assignment, Console(), jobs, sandbox.value, write)


Marks = Annotated[list[Path], typer.Argument(help="What `autograder grade --json` wrote, one file or more.")]


def roster(
    file: Annotated[Path, typer.Argument(help="A CSV file with the columns id, name and email.")],
) -> None:
    """Enter who is in the class into the gradebook: formgrader then shows names, and exports have a row for everybody.

    An id is the name of the student's folder in submitted/. If you run it again, names and addresses are brought up to
    date, and nobody is taken away.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.rows import enter_students
    from autograder.reports.roster import read_roster

    people, course = read_roster(file), find_course()
    fresh = enter_students(api(course.root).coursedir, people)
    print(f"entered {len(people)} students, {fresh} of them new to the gradebook")
    ids = {person.id for person in people}
    handed_in = course.root / "submitted"
    folders = sorted(path.name for path in handed_in.iterdir() if path.is_dir()) if handed_in.is_dir() else []
    for name in [name for name in folders if name not in ids]:
        print(f"submitted/{printable(name)}: nobody in the roster has this id")


Roster = Annotated[
    Path | None,
    typer.Option(help="A CSV file (id, name, email): who has handed in nothing is named, too."),
]


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
    from autograder.commands.beside_report import what_is_beside
    from autograder.reports import class_report
    from autograder.reports.class_statistics import class_statistics
    from autograder.reports.marks_file import read_marks, write

    reports, everybody = read_marks(marks), _ids(roster)
    found = class_statistics(reports, everybody)

    told = _told_of_marks() if gradebook else {}

    def page(rates: Any) -> str:
        return class_report.as_html(rates, what_is_beside(reports, everybody, html, submitted, feedback, told))

    formats = {html: page, csv: class_report.as_table, json_file: class_report.as_json}
    wanted = {path: make for path, make in formats.items() if path is not None}
    for path, make in wanted.items():
        write(path, make(found))
        print(f"wrote {path}")
    if not wanted:
        class_report.show(found, Console())


def _told_of_marks() -> dict[tuple[str, str], str]:
    from autograder.nbgrader import api
    from autograder.nbgrader.rows import told_of_marks

    return told_of_marks(api(find_course().root).coursedir)


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
    from autograder.reports.marks_file import read_marks, write
    from autograder.reports.roster import with_absent

    if csv is None and junit is None and gradescope is None:
        raise typer.BadParameter("name at least one of --csv, --junit and --gradescope")
    reports = with_absent(read_marks(marks), _ids(roster))
    if csv is not None:
        write(csv, forms.exercises_as_csv(reports))
    if junit is not None:
        write(junit, forms.as_junit(reports))
    if gradescope is not None:
        for path, text in forms.gradescope_files(reports, gradescope, visibility.value, messages):
            write(path, text)
    for wanted in (csv, junit, gradescope):
        if wanted is not None:
            print(f"wrote {wanted}")


def bundle(
    assignment: Annotated[str, typer.Argument(help="The assignment that is to be graded elsewhere.")],
    gradescope: Annotated[
        Path | None, typer.Option(help="Write Gradescope's autograder here, a zip; it holds the hidden suites.")
    ] = None,
    github_classroom: Annotated[
        Path | None, typer.Option(help="Write a workflow here that runs the visible checks.")
    ] = None,
    requirement: Annotated[
        str | None,
        typer.Option(help="For the workflow: what pip installs; the kit's wheel in that repository if none."),
    ] = None,
    visibility: Annotated[
        Visibility, typer.Option(help="For Gradescope: when students see their results.")
    ] = Visibility.after_due_date,
    without_wall: Annotated[
        bool,
        typer.Option(
            "--without-wall", help="For Gradescope: grade though code can read suites; messages are left out."
        ),
    ] = False,
) -> None:
    """What grades elsewhere: Gradescope's autograder with the hidden suites, a GitHub workflow with visible checks.

    Gradescope's holds this assignment alone, and grades nothing in a container where no wall works.
    """
    from autograder.commands.bundle import classroom_workflow, write_gradescope
    from autograder.reports.marks_file import write

    if gradescope is None and github_classroom is None:
        raise typer.BadParameter("name --gradescope, --github-classroom, or both")
    found = find_course().assignment(assignment)
    if gradescope is not None:
        must_be_writable(gradescope)
        write_gradescope(found, gradescope, visibility.value, not without_wall)
        print(f"wrote {gradescope}")
    if github_classroom is not None:
        write(github_classroom, classroom_workflow(found, requirement))
        print(f"wrote {github_classroom}")


def dev_check(
    assignments: Annotated[list[str] | None, typer.Argument(help="These assignments only; all if none.")] = None,
) -> None:
    """After editing the course: is it fit for students? It names file, cell and remedy of all that is not in order.

    Every stub fails as not started, every solution passes, points add up, each exercise has visible checks, hints and
    at least three known mistakes that its hidden tests reject, release and text twin are in step, and no secret is in
    the release. Exit code: 0 when all is in order, 1 when something is to mend, 2 when the call itself is wrong.
    """
    from autograder.authors.dev_check import check_course

    console, found = Console(), 0
    for checked in check_course(find_course(), assignments or []):
        console.print(Text(f"{checked.name}: {checked.about}", style="bold"), soft_wrap=True)
        for finding in checked.findings:
            console.print(Text(f"  {finding}"), soft_wrap=True)
        found += not checked.in_order
    raise typer.Exit(1 if found else 0)


def dist(
    folder: Annotated[Path, typer.Argument(help="Where wheel and sdist are.")] = Path("dist"),
    address: Annotated[str, typer.Option(help="Where pip gets the wheel if it is not beside the notebook.")] = "",
) -> None:
    """After building the packages: notebooks that get the kit where it is missing, and a list of what is in them."""
    from autograder.authors.release import write_release

    for path in write_release(find_course(), folder, address):
        print(f"wrote {path}")


def docs() -> None:
    """Write the pages of docs/ that are made from the code: command line, JSON, security."""
    from autograder.authors.dev_docs import pages
    from autograder.commands.cli import app

    for path, text in pages(find_course(), app).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


def ready_made() -> None:
    """What the installed PyTorch and NumPy have of attention and convolution, and whether sandbox.toml takes it out.

    Exit code: 0 when all that is found is taken out, 1 when something is not. Takes half a minute.
    """
    from autograder.authors.ready_made import search
    from autograder.content import sandbox_setting

    found, suspects = search(sandbox_setting(find_course().root))
    for one in found:
        print(f"{'taken out' if one.covered else 'NOT TAKEN OUT':<15}{one.what:<13}{one.name}")
    left = sum(not one.covered for one in found)
    print(f"{suspects} names are suspect, {len(found)} of them do it, {left} are not taken out")
    raise typer.Exit(1 if left else 0)


def new_course(
    folder: Annotated[Path, typer.Argument(help="Where the course goes; empty, or not there yet.")],
    assignment: Annotated[str, typer.Argument(help="Its first assignment.")] = "a1_first",
    exercise: Annotated[str, typer.Argument(help="The function that students write there.")] = "row_centred",
) -> None:
    """A course of your own, on any subject: configuration, one assignment, one exercise.

    It works from the start: the model answer has full marks, the stub 0. Rewrite it piece by piece.
    """
    from autograder.authors.new_course import begin_course

    for path in begin_course(folder, assignment, exercise):
        print(f"wrote {path}")
    print(f"Now: cd {folder}, then autograder dev check")


def new_assignment(
    assignment: Annotated[str, typer.Argument(help="Its name, such as a2_chance; assignments are in order of names.")],
    exercise: Annotated[str, typer.Argument(help="The function that students write first.")],
) -> None:
    """An assignment of your own, with one exercise that works from the start, its text twin and its release."""
    from autograder.authors.new_course import begin_assignment

    for path in begin_assignment(find_course(), assignment, exercise):
        print(f"wrote {path}")
    print("Now: autograder dev check")


def new(
    assignment: Annotated[str, typer.Argument(help="Where it goes; begun if there is no such assignment.")],
    exercise: Annotated[str, typer.Argument(help="The function's name.")],
) -> None:
    """The skeleton of an exercise of your own: cells, hidden suite, visible check, known mistakes, hints.

    It works from the start. Rewrite it piece by piece; `autograder dev check` says what is missing.
    """
    from autograder.authors.new_exercise import add_exercise

    for path in add_exercise(find_course(), assignment, exercise):
        print(f"wrote {path}")
    print("Now: autograder dev sync, then autograder dev check")
