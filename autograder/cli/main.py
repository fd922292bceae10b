"""The command line."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.text import Text
from typer import Argument, Exit, Option, Typer

from autograder import __version__
from autograder.cli import elsewhere, instructors
from autograder.cli.dev import dev
from autograder.cli.grading import GradingOptions, grade_class, grade_files, show
from autograder.cli.options import CourseFolder, Jobs, Kind, must_be_writable, say, warn
from autograder.cli.signals import ended_in_order, interrupted_in_order
from autograder.course.assignments import Course, course_at, find_course, is_around, no_course
from autograder.discovery import find_submissions, notices_of_others
from autograder.errors import EXPECTED, AutograderError, CourseError, in_words
from autograder.text import printable_lines

# Headings of `autograder --help`.
GRADE, TERM, STUDENTS, ELSEWHERE = "Grade", "During the term", "For students", "From and to other systems"
MACHINE = "This machine, and editing a course"
app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def say_version(wanted: bool) -> None:
    """Print the version and exit, if `--version` is given."""
    if wanted:
        print(f"autograder {__version__}")
        raise Exit


@app.callback()
def autograder(
    version: Annotated[
        bool, Option("--version", help="Print the version and end.", callback=say_version, is_eager=True)
    ] = False,
) -> None:
    """Grade notebooks behind a sandbox, with hidden tests, partial credit and named mistakes."""
    interrupted_in_order()


def grade(
    paths: Annotated[
        list[Path] | None,
        Argument(help="Notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.", show_default=False),
    ] = None,
    assignment: Annotated[
        str | None, Option(help="Grade this assignment only; also says which one a lone notebook is.")
    ] = None,
    jobs: Jobs = 0,
    json_file: Annotated[
        Path | None, Option("--json", help="Also write the full report to this file; - for the terminal.")
    ] = None,
    gradebook: Annotated[
        bool, Option("--gradebook", help="Grade the course's submitted/ into nbgrader's gradebook.")
    ] = False,
    feedback: Annotated[bool, Option("--feedback", help="With --gradebook: also nbgrader's feedback pages.")] = False,
    force: Annotated[bool, Option("--force", help="With --gradebook: grade what has not changed, too.")] = False,
    accept_changes: Annotated[
        bool, Option("--accept-changes", help="With --gradebook: write marks that a change of the course moves, too.")
    ] = False,
    scheduler: Annotated[
        str, Option(help="Address of a Dask scheduler whose workers grade, such as tcp://10.0.0.1:8786.")
    ] = "",
    quiet: Annotated[bool, Option("--quiet", help="Only what could not be graded, and the sum.")] = False,
    sandbox: Kind = "auto",
    folder: CourseFolder = None,
) -> None:
    """Grade notebooks with the hidden tests. Low marks are no failure.

    If a run was interrupted, start it again: it goes on where it stopped. If a change of the course would move a mark
    in the gradebook, the mark stays, and a line says so (see `autograder regrade`).

    Exit code: 0 when everything was graded, 1 when a submission could not be (it stays in the report with its
    reason) or a mark was left, 2 when the call itself is wrong.
    """
    console = Console(stderr=json_file == Path("-"))
    course = _course_to_grade(folder, paths or [], assignment)
    options = GradingOptions(jobs, sandbox, scheduler, quiet)
    if gradebook and (paths or json_file):
        raise AutograderError("--gradebook grades what is in submitted/; leave PATH and --json away")
    if not gradebook and (feedback or force or accept_changes):
        raise AutograderError("--feedback, --force and --accept-changes go with --gradebook")
    if gradebook:
        warn(sandbox, course)
        raise Exit(grade_class(course, assignment, options, console, feedback, force, accept_changes))
    if not paths:
        raise AutograderError("what is to be graded? Name a notebook or a folder, or pass --gradebook")
    found = find_submissions(paths, course, assignment)
    warn(sandbox, course)
    must_be_writable(json_file)
    say(console, *(printable_lines(f"warning: {notice}") for notice in notices_of_others(found, course) if notice))
    reports = grade_files(found, course, options, console, json_file)
    show(reports, console, quiet)
    raise Exit(1 if any(report.status == "failed" for report in reports) else 0)


def _course_to_grade(folder: Path | None, paths: list[Path], assignment: str | None) -> Course:
    """The course in `folder`, else the one around the current folder.

    The course beside the engine is used only if the assignment, or what was handed in, has a name from it.
    """
    course = course_at(folder) if folder else find_course(handed_in=paths)
    if folder is None and not is_around(course):
        assignments = course.assignments()
        known = {*assignments, *(found.notebook.name for found in assignments.values())}
        named = [assignment] if assignment else (name for path in paths for name in _names_in(path.absolute()))
        if known.isdisjoint(named):
            raise no_course()
    if assignment is not None:
        course.assignment(assignment)
    return course


def _names_in(path: Path) -> Iterator[str]:
    """The parts of a path, and the names of folders and files up to two levels below it."""
    yield from path.parts
    with contextlib.suppress(OSError):
        yield from (found.name for pattern in ("*", "*/*") for found in path.glob(pattern))


def doctor(folder: CourseFolder = None) -> None:
    """What stands between student code and the course on this machine, what that means, and what helps.

    If that is enough, a few notebooks are run for a trial, which takes seconds.

    Exit code: 0 when grading is safe here, 1 when it is not, 2 when the call itself is wrong.
    """
    from autograder.cli.doctor import findings, safe
    from autograder.cli.doctor import show as show_findings
    from autograder.cli.doctor_trial import trial

    course = course_at(folder) if folder else None
    if course is None:
        with contextlib.suppress(CourseError):
            course = find_course()
    found = findings(course)
    if safe(found):
        found += trial(course)
    show_findings(found, Console())
    raise Exit(0 if safe(found) else 1)


def check(
    notebook: Annotated[Path, Argument(help="A notebook from the released folder, saved.")],
    json_file: Annotated[
        Path | None, Option("--json", help="Also write what the tests say, in the form of grade --json.")
    ] = None,
    watch: Annotated[bool, Option("--watch", help="Check again after every save, until Ctrl-C.")] = False,
    folder: Annotated[
        Path | None,
        Option(
            "--course",
            help="The course's folder; else the one around the current folder, if nobody else can write there.",
        ),
    ] = None,
) -> None:
    """Run the visible tests on a saved notebook, as check(...) does inside it.

    Exit code: 0 when every check passes, 1 when one does not yet, 2 when the call itself is wrong.
    """
    from autograder.cli import check_notebook

    course = course_at(folder) if folder else None
    if watch and json_file:
        raise AutograderError("--watch and --json are two different things")
    if not watch:
        raise Exit(0 if check_notebook.check_once(notebook, Console(), course, json_file) else 1)
    with contextlib.suppress(KeyboardInterrupt):
        check_notebook.watch(notebook, Console(), course)


def progress(
    folder: Annotated[
        Path, Argument(help="Your folder with the assignments, or one assignment's.", file_okay=False, exists=True)
    ] = Path(),
) -> None:
    """All assignments on one page: what check(...) in your notebooks has found done, begun, and which known mistakes.

    It is read from a file in your folder. Nothing is run, and nothing leaves this machine.
    """
    from autograder.student.progress import page

    print(printable_lines(repr(page(folder))))


def demo(
    folder: Annotated[Path, Argument(help="Where to build the class; an earlier demo there is replaced.")] = Path(
        "demo"
    ),
) -> None:
    """Grade a small class through nbgrader, from release to feedback, and show its marks."""
    course = find_course()
    from autograder.cli.demo import run  # imports nbgrader, which everybody who has a course has installed

    warn("auto", course)
    run(folder, course, Console())


# Each command: its heading and its line in `--help`, and an example to paste, which begins with the command's name.
for heading, command, short, example in (
    (GRADE, grade, "Grade notebooks with the hidden tests.", "grade submitted/ --json marks.json"),
    (MACHINE, doctor, "Is grading safe on this machine?", "doctor"),
    (STUDENTS, check, "Run the visible tests on a saved notebook.", "check first.ipynb --watch"),
    (STUDENTS, progress, "Show how far you are in all assignments.", "progress"),
    (MACHINE, demo, "Grade a small class, from release to feedback.", "demo demo"),
    (GRADE, instructors.regrade, "After a change of the course: who gains, who loses.", "regrade a1_first --write"),
    (TERM, instructors.roster, "Enter who is in the class into the gradebook.", "roster students.csv"),
    (TERM, instructors.report, "How the class is doing.", "report marks.json --html class.html"),
    (
        ELSEWHERE,
        elsewhere.export,
        "Marks in the forms that other programs read.",
        "export marks.json --csv exercises.csv --gradescope gradescope",
    ),
    (
        ELSEWHERE,
        elsewhere.bundle,
        "What grades elsewhere, such as in Gradescope.",
        "bundle a1_first --gradescope a1.zip",
    ),
    (GRADE, instructors.written, "Grade written answers on one page.", "written a1_first --page written.html"),
    (GRADE, instructors.why, "How a mark came about, in ten lines.", "why ada a1_first"),
    (TERM, instructors.extend, "Give one student more time.", "extend ada a1_first --days 3"),
    (TERM, instructors.withdraw, "Full marks for an unfair exercise, or none.", "withdraw row_centred --write"),
    (TERM, instructors.forget, "Delete a student's history.", "forget ada"),
    (ELSEWHERE, elsewhere.return_, "Marks and pages back.", "return a1_first --to canvas --marks a1.csv"),
):
    name, epilog = example.split()[0], f"Example: autograder {example}"
    app.command(name, epilog=epilog, rich_help_panel=heading, short_help=short)(command)
app.add_typer(dev, name="dev", rich_help_panel=MACHINE)


def main() -> None:
    """Entry point of `autograder`: a user's mistake is one clear line and exit code 2."""
    with ended_in_order():
        try:
            app()
            sys.stdout.flush()
            return
        except EXPECTED as error:
            message = str(error)
        except Exception as error:
            if (reason := in_words(error)) is None:
                raise
            full = (errno.ENOSPC, errno.EFBIG, errno.EIO)
            if isinstance(error, OSError) and error.filename is None and error.errno in full:
                reason = f"the output could not be written: {reason}"
            message = f"{reason}. What was done so far is kept; the same command goes on from there"
        with contextlib.suppress(OSError):
            Console(stderr=True, soft_wrap=True).print(Text(printable_lines(f"autograder: {message}")))
        with contextlib.suppress(OSError):  # at exit Python flushes what could not be printed; it is dropped
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(2)
