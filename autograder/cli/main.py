"""The command line.

Ctrl-C and SIGTERM are handled in three stages:

1. While modules are imported, Ctrl-C ends the process at once, since there is nothing to clean up (`__main__`).
2. While the command runs, both raise an exception, so that processes, control groups and folders are cleaned up.
3. After that the first signal is ignored, since the process ends anyway. A second one ends it at once.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

from rich.console import Console
from rich.text import Text
from typer import Argument, Exit, Option, Typer

from autograder import __version__
from autograder.cli import elsewhere, instructors
from autograder.cli.dev import dev
from autograder.cli.grading import GradingOptions, find_submissions, grade_class, grade_files, show
from autograder.cli.options import CourseFolder, Jobs, SandboxName, must_be_writable, say, warn
from autograder.course.assignments import Course, course_at, find_course, is_around, no_course
from autograder.errors import EXPECTED, AutograderError, CourseError, in_words
from autograder.text import printable_lines, shown_name

# Headings of `autograder --help`.
GRADE, TERM, STUDENTS, ELSEWHERE = "Grade", "During the term", "For students", "From and to other systems"
MACHINE = "This machine, and editing a course"
EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}  # 128 and the signal's number, as in a shell
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
    """Grade notebooks in a sandbox, with hidden tests, partial credit and named mistakes."""
    _interrupted_in_order()


def grade(
    paths: Annotated[
        list[Path] | None,
        Argument(help="Notebooks, or folders with STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.", show_default=False),
    ] = None,
    assignment: Annotated[str | None, Option(help="Grade only this assignment.")] = None,
    jobs: Jobs = 0,
    json_file: Annotated[
        Path | None, Option("--json", help="Write the report to this file; -: to the terminal.")
    ] = None,
    gradebook: Annotated[bool, Option("--gradebook", help="Grade submitted/ into nbgrader's gradebook.")] = False,
    feedback: Annotated[bool, Option("--feedback", help="With --gradebook: write feedback pages, too.")] = False,
    force: Annotated[bool, Option("--force", help="With --gradebook: also grade what has not changed.")] = False,
    accept_changes: Annotated[
        bool,
        Option("--accept-changes", help="With --gradebook: write marks that differ because the course has changed."),
    ] = False,
    scheduler: Annotated[str, Option(help="A Dask cluster's address, such as tcp://10.0.0.1:8786.")] = "",
    quiet: Annotated[bool, Option("--quiet", help="Print only failures and totals.")] = False,
    sandbox: SandboxName = "auto",
    folder: CourseFolder = None,
) -> None:
    """Grade notebooks with the hidden tests.

    If a run was interrupted, start it again. If only the course has changed, marks in the gradebook stay, and a line
    says so. Exit code: 1 if a submission could not be graded or a mark stayed.
    """
    console = Console(stderr=json_file == Path("-"))
    course = _course_to_grade(folder, paths or [], assignment)
    options = GradingOptions(jobs, sandbox, scheduler, quiet)
    if gradebook and (paths or json_file):
        raise AutograderError("--gradebook grades what is in submitted/; leave out PATH and --json")
    if not gradebook and (feedback or force or accept_changes):
        raise AutograderError("--feedback, --force and --accept-changes go with --gradebook")
    if not gradebook and not paths:
        raise AutograderError("nothing to grade: name a notebook or a folder, or pass --gradebook")
    if not scheduler:  # else students' code runs on other machines
        warn(sandbox, course)
    if gradebook:
        raise Exit(grade_class(course, assignment, options, console, feedback, force, accept_changes))
    found = find_submissions(paths or [], course, assignment)
    must_be_writable(json_file)
    reports = grade_files(found, course, options, console, json_file)
    for report in reports:
        who = f"{shown_name(report.student)}, {report.assignment}"
        say(console, *(f"warning: {who}: {notice}" for notice in report.notices))
    show(reports, console, quiet)
    raise Exit(1 if any(report.status == "failed" for report in reports) else 0)


def _course_to_grade(folder: Path | None, paths: list[Path], assignment: str | None) -> Course:
    """The course in `folder`, else the one around the current folder.

    The course beside the engine is used only if the assignment, or what was handed in, has a name from it.
    """
    course = course_at(folder) if folder else find_course(handed_in=paths)
    if folder is None and not is_around(course):
        assignments = course.assignments
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
    """Say which sandbox works on this machine, and what helps if none does.

    If grading is safe, it also grades a few notebooks as a trial. Exit code: 1 if grading is not safe.
    """
    from autograder.cli.doctor import findings, safe, trial
    from autograder.cli.doctor import show as show_findings

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
    notebook: Annotated[Path, Argument(help="A saved notebook.")],
    json_file: Annotated[Path | None, Option("--json", help="Write a report, as grade --json does.")] = None,
    watch: Annotated[bool, Option("--watch", help="Check again after every save, until Ctrl-C.")] = False,
    folder: Annotated[
        Path | None,
        Option(
            "--course",
            help="The course's folder; its tests run as you. By default an installed course.",
        ),
    ] = None,
    sandbox: SandboxName = "auto",
) -> None:
    """Run the visible tests on a saved notebook, as check(...) does inside it.

    Exit code: 1 if a check does not pass yet.
    """
    from autograder.cli import check_notebook

    course = course_at(folder) if folder else None
    if watch and json_file:
        raise AutograderError("--watch and --json do not go together")
    if not watch:
        raise Exit(0 if check_notebook.check_once(notebook, Console(), course, json_file, sandbox) else 1)
    with contextlib.suppress(KeyboardInterrupt):
        check_notebook.watch(notebook, Console(), course, sandbox)


def progress(
    folder: Annotated[Path, Argument(help="Your folder of assignments.", file_okay=False, exists=True)] = Path(),
) -> None:
    """Show what is done, what you have begun, and the known mistakes that you have met.

    It reads what check(...) stored in your folder. It runs nothing, and nothing leaves this machine.
    """
    from autograder.student.progress import page

    say(Console(), repr(page(folder)))


def demo(
    folder: Annotated[Path, Argument(help="Folder for the class.")] = Path("demo"),
    sandbox: SandboxName = "auto",
) -> None:
    """Grade a small class through nbgrader, from release to feedback, and show its marks."""
    course = find_course()
    from autograder.cli.demo import run  # imports nbgrader, which everybody who has a course has installed

    warn(sandbox, course)
    run(folder, course, Console(), sandbox)


# Each command: its heading and its line in `--help`, and an example to paste, which begins with the command's name.
for heading, command, short, example in (
    (GRADE, grade, "Grade notebooks with the hidden tests.", "grade submitted/ --json marks.json"),
    (MACHINE, doctor, "Is grading safe on this machine?", "doctor"),
    (STUDENTS, check, "Run the visible tests on a saved notebook.", "check first.ipynb --watch"),
    (STUDENTS, progress, "Show how far you are in all assignments.", "progress"),
    (MACHINE, demo, "Grade a small class, from release to feedback.", "demo demo"),
    (GRADE, instructors.regrade, "Show who gains and who loses after a change.", "regrade a1_first --write"),
    (TERM, instructors.roster, "Enter the class into the gradebook.", "roster students.csv"),
    (TERM, instructors.report, "Show how the class is doing.", "report marks.json --html class.html"),
    (
        ELSEWHERE,
        elsewhere.export,
        "Write marks for other programs.",
        "export marks.json --csv exercises.csv --gradescope gradescope",
    ),
    (
        ELSEWHERE,
        elsewhere.bundle,
        "Write an autograder for Gradescope or Classroom 50.",
        "bundle a1_first --gradescope a1.zip",
    ),
    (GRADE, instructors.written, "Grade written answers on one page.", "written a1_first --page written.html"),
    (GRADE, instructors.why, "Explain a mark in ten lines.", "why ada a1_first"),
    (TERM, instructors.questions, "Ask about a student's own lines.", "questions ada a1_first"),
    (TERM, instructors.extend, "Give one student more time.", "extend ada a1_first --days 3"),
    (TERM, instructors.withdraw, "Withdraw an unfair exercise.", "withdraw row_centred --write"),
    (TERM, instructors.forget, "Delete a student's history.", "forget ada"),
    (ELSEWHERE, elsewhere.return_, "Send marks and pages back.", "return a1_first --to canvas --marks a1.csv"),
):
    name, epilog = example.split()[0], f"Example: autograder {example}"
    app.command(name, epilog=epilog, rich_help_panel=heading, short_help=short)(command)
app.add_typer(dev, name="dev", rich_help_panel=MACHINE)


# ---------------------------------------------------------------- signals


class Terminated(SystemExit):
    """SIGTERM. `testing.functions` knows it by its name, and never takes it for an exception of the course's code."""


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Stages 2 and 3 for SIGTERM; `_interrupted_in_order` begins stage 2 for Ctrl-C."""
    signal.signal(signal.SIGTERM, _raise)
    sys.unraisablehook = _raise_again
    # If the parent process ignored SIGCHLD, this process inherits that, and nobody could wait for children that end.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        _ignore_the_first(getattr(sys.exc_info()[1], "code", 0))


def _interrupted_in_order() -> None:
    """From now on Ctrl-C raises `KeyboardInterrupt`, unless this process was started to ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    logging.disable()  # a library that is interrupted may log errors that follow from it
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    raise Terminated(EXIT_CODES[signal.SIGTERM])


def _raise_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal again if Python has dropped its exception, as it does while an object is removed."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(dropped)
        return
    number = signal.SIGINT if isinstance(dropped.exc_value, KeyboardInterrupt) else signal.SIGTERM

    def send(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.raise_signal(number)

    # In 10 ms, then every 100 ms until `send` has run: an alarm just before a blocking system call does not end it.
    signal.signal(signal.SIGALRM, send)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)


def _ignore_the_first(code: object) -> None:
    """Begin stage 3. If `code`, the exit code, is a signal's, that signal was the first one already."""

    def ignored(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)

    for number, code_of_signal in EXIT_CODES.items():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if code == code_of_signal else ignored)


def main() -> None:
    """Entry point of `autograder`: a user's mistake is one clear line and exit code 2."""
    with _ended_in_order():
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
            message = f"{reason}. What was done so far is kept; run the same command to continue"
        with contextlib.suppress(OSError):
            Console(stderr=True, soft_wrap=True).print(Text(printable_lines(f"autograder: {message}")))
        with contextlib.suppress(OSError):  # at exit Python flushes what could not be printed; it is dropped
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(2)
