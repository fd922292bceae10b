"""`autograder dev`: commands for authors of a course."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.console import Console
from rich.text import Text
from typer import Argument, Exit, Option, Typer

from autograder.cli.options import say, say_written
from autograder.course.assignments import Course, course_at, find_course, is_around
from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.authoring.problems import Checked

dev = Typer(no_args_is_help=True, help="Commands for authors of a course.")
Minimal = Annotated[bool, Option("--minimal", help="Only cells, and a table of examples.")]
Like = Annotated[
    Literal["function", "class", "module", "words"],
    Option(help="A function of arrays, a class, a PyTorch module, or a function that returns text."),
]
TO_MEND, CAN_WAIT = "  To fix before students get it:", "  Can wait:"
MAX_PRINTED = 20  # lines


def _course() -> Course:
    """The course at or above the working directory. Raises `CourseError` if there is none."""
    course = find_course()
    if not is_around(course):
        raise CourseError(
            f"no course here: {Path.cwd()} is not in a course's folder. Run this there, or create a course with "
            "`autograder dev new-course`"
        )
    return course


@dev.command("check", epilog="Example: autograder dev check a1_first")
def dev_check(
    assignments: Annotated[list[str] | None, Argument(help="All by default.")] = None,
) -> None:
    """Check that the course is ready for students. Each problem names file, cell and remedy.

    Stubs must fail as not started, and solutions get full marks. Each exercise needs hidden tests, visible tests, a
    hint and two known mistakes that its hidden tests reject. Script and release must be up to date, and the release
    contain no hidden test, solution or private file. Exit code: 1 if there is something to fix.
    """
    from autograder.authoring.course_check import check_course

    all_in_order, course = True, _course()
    root = f"{os.path.relpath(course.root)}/".removeprefix("./")

    def relative(text: object) -> str:
        return str(text).replace(f"{course.root}/", root)

    try:
        for checked in check_course(course, assignments or []):
            _say_checked(checked, relative)
            all_in_order = all_in_order and checked.in_order
    except CourseError as error:
        raise CourseError(relative(error)) from None
    raise Exit(0 if all_in_order else 1)


def _say_checked(checked: Checked, relative: Callable[[object], str]) -> None:
    """Print one assignment's problems. relative: writes paths relative to the working directory"""
    console = Console()
    console.print(Text(f"{checked.name}: {checked.about}", style="bold"), soft_wrap=True)
    for heading, blocks in ((TO_MEND, True), (CAN_WAIT, False)):
        found = [relative(one) for one in checked.problems if one.blocks is blocks]
        say(console, *([heading] if found else []), *(f"    {one}" for one in found))
    say(console, *([f"  {checked.named}"] if checked.named else []))
    say(console, *(f"  printed by the course's code: {line}" for line in checked.printed[:MAX_PRINTED]))


@dev.command(epilog="Example: autograder dev adopt ~/algorithms")
def adopt(folder: Annotated[Path, Argument(help="Folder with nbgrader_config.py and source/.")]) -> None:
    """Say what works, what is lost and what is gained if an existing nbgrader course is graded here. Changes nothing.

    Each source notebook is graded as a trial.
    """
    from autograder.authoring.adopt import adopt as look_at
    from autograder.authoring.adopt import as_lines

    for found in look_at(course_at(folder)):
        say(Console(), *as_lines(found))


@dev.command(epilog="Example: autograder dev dist dist --address https://example.edu/kit.whl")
def dist(
    folder: Annotated[Path, Argument(help="Folder with the built packages.")] = Path("dist"),
    address: Annotated[str, Option(help="Where pip gets the wheel if it isn't beside the notebook.")] = "",
) -> None:
    """After a build, write notebooks that install the kit, and a list of the packages' contents."""
    from autograder.authoring.release import write_release

    say_written(write_release(_course(), folder, address))


@dev.command("new-course", epilog="Example: autograder dev new-course statistics")
def new_course(
    folder: Annotated[Path, Argument(help="A new or empty folder for the course.")],
    assignment: Annotated[str, Argument(help="Its first assignment.")] = "a1_first",
    exercise: Annotated[str, Argument(help="The function that students write first.")] = "row_centred",
) -> None:
    """Create a small working course of your own: configuration, one assignment, one exercise."""
    from autograder.authoring.skeletons import begin_course

    say_written(begin_course(folder, assignment, exercise))
    print(f"Now: cd {folder}, then autograder dev check")


@dev.command("new-assignment", epilog="Example: autograder dev new-assignment a8_pooling max_pool")
def new_assignment(
    assignment: Annotated[str, Argument(help="Its name, such as a2_chance.")],
    exercise: Annotated[str, Argument(help="The function that students write first.")],
    minimal: Minimal = False,
    like: Like = "function",
) -> None:
    """Create an assignment with one working exercise."""
    from autograder.authoring.skeletons import begin_assignment

    say_written(begin_assignment(_course(), assignment, exercise, "minimal" if minimal else like))
    print("Now: autograder dev check")


@dev.command(epilog="Example: autograder dev new a1_first row_centred")
def new(
    assignment: Annotated[str, Argument(help="Its assignment, new or not.")],
    exercise: Annotated[str, Argument(help="The function's name.")],
    minimal: Minimal = False,
    like: Like = "function",
) -> None:
    """Create a working exercise to rewrite: cells, hidden tests, visible test, known mistakes, hints."""
    from autograder.authoring.skeletons import add_exercise

    say_written(add_exercise(_course(), assignment, exercise, "minimal" if minimal else like))
    print("Now: autograder dev sync, then autograder dev check")


@dev.command(epilog="Example: autograder dev sync")
def sync() -> None:
    """Update solutions/ and assignments/ after an edit in source/."""
    from autograder.authoring import generated_files

    if not say_written(generated_files.sync(_course())):
        print("solutions/ and assignments/ are up to date with source/")


@dev.command(epilog="Example: autograder dev catalogue")
def catalogue(
    pages: Annotated[
        Path | None,
        Option(help="Write a page instead: how the hidden tests judge each known mistake."),
    ] = None,
    everything: Annotated[bool, Option("--all", help="Include assignments that have not changed.")] = False,
) -> None:
    """Store the answers of all known mistakes, after an edit of suites or mistakes."""
    from autograder.authoring import known_mistakes

    course = _course()
    if pages is None:
        if not say_written(known_mistakes.keep(course, everything)):
            print("nothing has changed since then; --all does it again")
        return
    pages.mkdir(parents=True, exist_ok=True)
    path = pages / "known-mistakes.md"
    path.write_text(known_mistakes.page(known_mistakes.rows(course)), encoding="utf-8")
    print(f"wrote {path}")
