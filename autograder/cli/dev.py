"""`autograder dev`: commands for authors of a course."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console
from rich.text import Text
from typer import Argument, Exit, Option, Typer

from autograder.cli.options import say, say_written
from autograder.course.assignments import Course, course_at, find_course, is_around
from autograder.errors import CourseError
from autograder.text import printable

dev = Typer(no_args_is_help=True, help="For those who edit the course.")
Minimal = Annotated[bool, Option("--minimal", help="Cells, and one file with a table of examples.")]
Like = Annotated[
    Literal["function", "class", "module", "words"],
    Option(help="A function of arrays, a class with methods, a module of PyTorch, a function that gives text."),
]
TO_MEND, CAN_WAIT = "  To mend before students get it:", "  Can wait:"
MAX_PRINTED = 20  # lines


def _course() -> Course:
    """The course at or above the working directory. Raises `CourseError` if there is none."""
    course = find_course()
    if not is_around(course):
        raise CourseError(
            f"no course here: {Path.cwd()} is not in a course's folder. Call this there, or begin a course with "
            "`autograder dev new-course`"
        )
    return course


@dev.command("check", epilog="Example: autograder dev check a1_first")
def dev_check(
    assignments: Annotated[list[str] | None, Argument(help="These assignments only; all if none.")] = None,
) -> None:
    """After editing the course: is it fit for students? It names file, cell and remedy of all that is not in order.

    Every stub fails as not started, every solution passes, points add up, each exercise has visible tests, hints and
    at least two known mistakes that its hidden tests reject, release and paired script are in step, and no secret is
    in the release. It also says how many known mistakes the visible tests name, and which pass all of them and get less
    than nine tenths of the points. Exit code: 0 when all is in order, 1 when something is to mend, 2 when the call
    itself is wrong.
    """
    from autograder.authoring.course_check import check_course

    console, all_in_order, course = Console(), True, _course()
    root = f"{os.path.relpath(course.root)}/".removeprefix("./")
    for checked in check_course(course, assignments or []):
        console.print(Text(f"{checked.name}: {checked.about}", style="bold"), soft_wrap=True)
        for heading, blocks in ((TO_MEND, True), (CAN_WAIT, False)):
            found = [str(one).replace(f"{course.root}/", root) for one in checked.findings if one.blocks is blocks]
            say(console, *([heading] if found else []), *(f"    {one}" for one in found))
        say(console, *([f"  {checked.named}"] if checked.named else []))
        for line in checked.printed[:MAX_PRINTED]:
            say(console, f"  printed by the course's code: {printable(line)}")
        all_in_order = all_in_order and checked.in_order
    raise Exit(0 if all_in_order else 1)


@dev.command(epilog="Example: autograder dev adopt ~/algorithms")
def adopt(folder: Annotated[Path, Argument(help="A folder with nbgrader_config.py and source/.")]) -> None:
    """An existing nbgrader course: what works as it is, what is lost, and what is gained. Nothing is changed.

    Each source notebook is graded in the sandbox for a trial, and ought to have all points.
    """
    from autograder.authoring.adopt import adopt as look_at
    from autograder.authoring.adopt import as_lines

    for found in look_at(course_at(folder)):
        say(Console(), *map(printable, as_lines(found)))


@dev.command(epilog="Example: autograder dev dist dist --address https://example.edu/kit.whl")
def dist(
    folder: Annotated[Path, Argument(help="Where wheel and sdist are.")] = Path("dist"),
    address: Annotated[str, Option(help="Where pip gets the wheel if it is not beside the notebook.")] = "",
) -> None:
    """After building the packages: notebooks that get the kit where it is missing, and a list of what is in them."""
    from autograder.authoring.release import write_release

    say_written(write_release(_course(), folder, address))


@dev.command("new-course", epilog="Example: autograder dev new-course statistics")
def new_course(
    folder: Annotated[Path, Argument(help="Where the course goes; empty, or not there yet.")],
    assignment: Annotated[str, Argument(help="Its first assignment.")] = "a1_first",
    exercise: Annotated[str, Argument(help="The function that students write there.")] = "row_centred",
) -> None:
    """A course of your own, on any subject: configuration, one assignment, one exercise.

    It works from the start: the model answer has full marks, the stub 0. Rewrite it piece by piece.
    """
    from autograder.authoring.skeletons import begin_course

    say_written(begin_course(folder, assignment, exercise))
    print(f"Now: cd {folder}, then autograder dev check")


@dev.command("new-assignment", epilog="Example: autograder dev new-assignment a8_pooling max_pool")
def new_assignment(
    assignment: Annotated[str, Argument(help="Its name, such as a2_chance; assignments are in order of names.")],
    exercise: Annotated[str, Argument(help="The function that students write first.")],
    minimal: Minimal = False,
    like: Like = "function",
) -> None:
    """An assignment of your own, with one exercise that works from the start, its paired script and its release."""
    from autograder.authoring.skeletons import begin_assignment

    say_written(begin_assignment(_course(), assignment, exercise, "minimal" if minimal else like))
    print("Now: autograder dev check")


@dev.command(epilog="Example: autograder dev new a1_first row_centred")
def new(
    assignment: Annotated[str, Argument(help="Where it goes; begun if there is no such assignment.")],
    exercise: Annotated[str, Argument(help="The function's name.")],
    minimal: Minimal = False,
    like: Like = "function",
) -> None:
    """The skeleton of an exercise of your own: cells, hidden tests, visible test, known mistakes, hints.

    It works from the start. Rewrite it piece by piece; `autograder dev check` says what is missing.
    """
    from autograder.authoring.skeletons import add_exercise

    say_written(add_exercise(_course(), assignment, exercise, "minimal" if minimal else like))
    print("Now: autograder dev sync, then autograder dev check")


@dev.command(epilog="Example: autograder dev sync")
def sync() -> None:
    """After editing source/: write the paired script in solutions/ and the releases in assignments/."""
    from autograder.authoring import generated_files

    if not say_written(generated_files.sync(_course())):
        print("solutions/ and assignments/ are in step with source/")


@dev.command(epilog="Example: autograder dev catalogue")
def catalogue(
    pages: Annotated[
        Path | None, Option(help="Write two pages into this folder instead, with a row for each known mistake.")
    ] = None,
    everything: Annotated[bool, Option("--all", help="Also where nothing has changed.")] = False,
) -> None:
    """After editing suites or known mistakes: keep what wrong functions answer, so that names are looked up.

    It passes over assignments of which nothing has changed. With --pages, judge every known mistake by hidden tests and
    visible tests, and say which of them it fails.
    """
    from autograder.authoring import catalogue_page, visible_page

    course = _course()
    if pages is None:
        if not say_written(catalogue_page.keep(course, everything)):
            print("nothing has changed since then; --all does it again")
        return
    pages.mkdir(parents=True, exist_ok=True)
    for name, page in (("known-mistakes.md", catalogue_page), ("visible-tests.md", visible_page)):
        (pages / name).write_text(page.page(page.rows(course)), encoding="utf-8")
        print(f"wrote {pages / name}")
