"""The command line."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from autograder.course import find_course
from autograder.errors import AutograderError, MachineError
from autograder.faces.grading import How, grade_class, grade_files, show
from autograder.marking.journal import write_whole
from autograder.marking.report import Report
from autograder.sandbox.launch import why_no_bubblewrap
from autograder.submission import find_submissions

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
dev = typer.Typer(no_args_is_help=True, help="For those who edit the course.")
app.add_typer(dev, name="dev")


class SandboxKind(StrEnum):
    """Where student code runs."""

    auto = "auto"
    bubblewrap = "bubblewrap"
    process = "process"


@app.callback()
def autograder() -> None:
    """Grade exercises on multi-head attention."""


@app.command(epilog="Example: autograder grade submitted/ --json marks.json")
def grade(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.", show_default=False),
    ] = None,
    assignment: Annotated[
        str | None, typer.Option(help="Grade this assignment only; also says which one a lone notebook is.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Worker processes; 0 means one a core.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the full report to this file; - for the terminal.")
    ] = None,
    gradebook: Annotated[
        bool, typer.Option("--gradebook", help="Grade the course's submitted/ into nbgrader's gradebook.")
    ] = False,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="With --gradebook: also nbgrader's feedback pages.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="With --gradebook: grade what has not changed, too.")] = False,
    scheduler: Annotated[
        str, typer.Option(help="Address of a Dask scheduler whose workers grade, such as tcp://10.0.0.1:8786.")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="Only what could not be graded, and the sum.")] = False,
    sandbox: Annotated[
        SandboxKind, typer.Option(help="auto uses bubblewrap where it works, and warns where not.")
    ] = SandboxKind.auto,
) -> None:
    """Grade notebooks with the hidden suites. Low marks are no failure.

    A run that was interrupted goes on where it stopped when it is started again.

    Exit code: 0 when everything was graded, 1 when a submission could not be (it stays in the report with its
    reason), 2 when the call itself is wrong.
    """
    console = Console(stderr=json_file == Path("-"))
    course = find_course()
    if assignment is not None:
        course.assignment(assignment)
    how = How(jobs, sandbox.value, scheduler, quiet)
    if gradebook:
        if paths or json_file:
            raise AutograderError("--gradebook grades what is in submitted/; leave PATH and --json away")
        _warn(sandbox)
        raise typer.Exit(grade_class(course, assignment, how, console, feedback, force))
    if feedback or force:
        raise AutograderError("--feedback and --force go with --gradebook")
    if not paths:
        raise AutograderError("what is to be graded? Name a notebook or a folder, or pass --gradebook")
    found = find_submissions(paths, course, assignment)
    _warn(sandbox)
    _must_be_writable(json_file)
    reports = grade_files(found, course, how, console, json_file)
    if json_file is not None:
        _write_json(reports, json_file)
    show(reports, console, quiet)
    raise typer.Exit(1 if any(report.status == "failed" for report in reports) else 0)


@app.command(epilog="Example: autograder regrade a1_scaled_dot_product --write")
def regrade(
    assignment: Annotated[str, typer.Argument(help="The assignment whose suite or points have changed.")],
    write: Annotated[bool, typer.Option("--write", help="Write the new marks, after saving the old ones.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what the last --write changed.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Worker processes; 0 means one a core.")] = 0,
    sandbox: Annotated[
        SandboxKind, typer.Option(help="auto uses bubblewrap where it works, and warns where not.")
    ] = SandboxKind.auto,
) -> None:
    """After a suite or points changed: who gains and who loses, and by how much. Nothing is written without --write.

    Manual grades and comments are kept. Needs the gradebook that nbgrader wrote.
    """
    from autograder.faces import regrade as again

    if write and undo:
        raise typer.BadParameter("--write and --undo are two different things")
    if undo:
        again.undo(find_course(), assignment, Console())
        return
    _warn(sandbox)
    again.run(find_course(), assignment, Console(), jobs, sandbox.value, write)


Marks = Annotated[list[Path], typer.Argument(help="What `autograder grade --json` wrote, one file or more.")]


@app.command(epilog="Example: autograder report marks.json --html class.html")
def report(
    marks: Marks,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at or print: one file, no network.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the numbers as a table.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers as JSON.")] = None,
) -> None:
    """How the class is doing: marks, exercises, tests, the most common mistakes, and who needs attention.

    Shown in the terminal where no file is asked for. Of two marks for the same student and assignment, the later
    counts. Whose work is like whose is not judged.
    """
    from autograder.faces import class_report
    from autograder.faces.class_statistics import class_statistics
    from autograder.faces.marks_file import read_marks, write

    found = class_statistics(read_marks(marks))
    formats = {html: class_report.as_html, csv: class_report.as_table, json_file: class_report.as_json}
    wanted = {path: make for path, make in formats.items() if path is not None}
    for path, make in wanted.items():
        write(path, make(found))
        print(f"wrote {path}")
    if not wanted:
        class_report.show(found, Console())


@app.command(epilog="Example: autograder export marks.json --csv exercises.csv --junit marks.xml")
def export(
    marks: Marks,
    csv: Annotated[Path | None, typer.Option(help="Write a table, one row an exercise.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, one test suite a submission.")] = None,
    gradescope: Annotated[
        Path | None, typer.Option(help="Write Gradescope's STUDENT/ASSIGNMENT/results.json below this folder.")
    ] = None,
) -> None:
    """Marks in the forms that other programs read; several at once where asked for."""
    from autograder.faces import export as forms
    from autograder.faces.marks_file import read_marks, write

    if csv is None and junit is None and gradescope is None:
        raise typer.BadParameter("name at least one of --csv, --junit and --gradescope")
    reports = read_marks(marks)
    if csv is not None:
        write(csv, forms.exercises_as_csv(reports))
    if junit is not None:
        write(junit, forms.as_junit(reports))
    if gradescope is not None:
        for path, text in forms.gradescope_files(reports, gradescope):
            write(path, text)
    for wanted in (csv, junit, gradescope):
        if wanted is not None:
            print(f"wrote {wanted}")


@app.command(epilog="Example: autograder bundle a1_scaled_dot_product --gradescope a1.zip")
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
) -> None:
    """What grades elsewhere: Gradescope's autograder with the hidden suites, a GitHub workflow with visible checks."""
    from autograder.faces.bundle import classroom_workflow, write_gradescope
    from autograder.faces.marks_file import write

    if gradescope is None and github_classroom is None:
        raise typer.BadParameter("name --gradescope, --github-classroom, or both")
    found = find_course().assignment(assignment)
    if gradescope is not None:
        _must_be_writable(gradescope)
        write_gradescope(found, gradescope)
        print(f"wrote {gradescope}")
    if github_classroom is not None:
        write(github_classroom, classroom_workflow(found, requirement))
        print(f"wrote {github_classroom}")


@app.command(epilog="Example: autograder demo demo")
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to build the class; an earlier demo there is replaced.")] = Path(
        "demo"
    ),
) -> None:
    """Grade a small class through nbgrader, from release to feedback, and show its marks."""
    from autograder.faces.demo import run

    _warn(SandboxKind.auto)
    run(folder, find_course(), Console())


@dev.command(epilog="Example: autograder dev sync")
def sync() -> None:
    """After editing source/: write the text twins in solutions/ and the releases in assignments/."""
    from autograder import upkeep

    written = list(upkeep.sync(find_course()))
    for path in written:
        print(f"wrote {path}")
    if not written:
        print("solutions/ and assignments/ are in step with source/")


@dev.command(epilog="Example: autograder dev catalogue")
def catalogue() -> None:
    """Judge every known mistake and write docs/known-mistakes.md: each mistake against each test."""
    from autograder import catalogue_page

    course = find_course()
    path = course.root / "docs" / "known-mistakes.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(catalogue_page.page(catalogue_page.rows(course)), encoding="utf-8")
    print(f"wrote {path}")


@dev.command("check", epilog="Example: autograder dev check a1_scaled_dot_product")
def dev_check(
    assignments: Annotated[list[str] | None, typer.Argument(help="These assignments only; all where none.")] = None,
) -> None:
    """After editing the course: is it fit for students? Names file, cell and remedy of all that is not in order.

    Every stub fails as not started, every solution passes, points add up, each exercise has visible checks, hints and
    at least three known mistakes that its hidden tests reject, release and text twin are in step, and no secret is in
    the release. Exit code: 0 when all is in order, 1 when something is to mend, 2 when the call itself is wrong.
    """
    from autograder.faces.dev_check import check_course

    console, found = Console(), 0
    for checked in check_course(find_course(), assignments or []):
        console.print(Text(f"{checked.name}: {checked.about}", style="bold"), soft_wrap=True)
        for finding in checked.findings:
            console.print(Text(f"  {finding}"), soft_wrap=True)
        found += len(checked.findings)
    raise typer.Exit(1 if found else 0)


@dev.command(epilog="Example: autograder dev docs")
def docs() -> None:
    """Write the pages of docs/ that are made from the code: command line, JSON, security."""
    from autograder.faces.dev_docs import pages

    for path, text in pages(find_course(), app).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


@dev.command(epilog="Example: autograder dev new a1_scaled_dot_product row_centred")
def new(
    assignment: Annotated[str, typer.Argument(help="Where it goes; begun where there is no such assignment.")],
    exercise: Annotated[str, typer.Argument(help="The function's name.")],
) -> None:
    """The skeleton of an exercise of your own: cells, hidden suite, visible check, known mistakes, hints.

    It works from the start. Rewrite it piece by piece; `autograder dev check` says what is missing.
    """
    from autograder.faces.new_exercise import add_exercise

    for path in add_exercise(find_course(), assignment, exercise):
        print(f"wrote {path}")
    print("Now: autograder dev sync, then autograder dev check")


def _must_be_writable(path: Path | None) -> None:
    """Said before the class is graded, not after."""
    if path is None or path == Path("-"):
        return
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise AutograderError(f"{path} cannot be written; name a file in a folder that is there")


def _warn(kind: SandboxKind) -> None:
    reason = why_no_bubblewrap() if kind is not SandboxKind.process else "asked for with --sandbox process"
    if reason and kind is SandboxKind.bubblewrap:
        raise MachineError(reason)
    if reason:
        text = f"warning: student code runs in a process with limits, but without a sandbox: {reason}"
        Console(stderr=True, style="yellow").print(Text(text))


def _write_json(reports: list[Report], path: Path) -> None:
    text = json.dumps([report.to_dict() for report in reports], indent=2, ensure_ascii=False)
    if path == Path("-"):
        print(text)
        return
    write_whole(path, text + "\n")


def main() -> None:
    """Entry point of `autograder`: a user's mistake is one clear line and exit code 2."""
    try:
        app()
    except AutograderError as error:
        Console(stderr=True).print(Text(f"autograder: {error}"))
        sys.exit(2)
