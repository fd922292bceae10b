"""`autograder return`: marks and feedback pages back to where submissions came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import System, must_be_writable
from autograder.course import find_course
from autograder.text import printable


def return_(
    assignment: Annotated[str, typer.Argument(help="The assignment whose marks or pages go back.")],
    to: Annotated[System, typer.Option(help="Where its submissions were downloaded.")],
    marks: Annotated[Path | None, typer.Option(help="Write what it imports: a CSV file, for Gradescope a zip.")] = None,
    feedback: Annotated[Path | None, typer.Option(help="Write the zip of feedback pages that it takes back.")] = None,
    sheet: Annotated[
        Path | None, typer.Option(help="Moodle's grading worksheet, in which the marks are filled in.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help='The column in Canvas: title and number, such as "Homework 1 (98765)".')
    ] = None,
) -> None:
    """Marks and feedback pages back to Canvas, Moodle or Gradescope, by the names in the zip that was collected.

    Marks are the gradebook's, with manual grades and penalties. Who has none gets an empty field, and a line here.
    Gradescope imports no marks: upload the zip as an autograder, and it gives each submission its marks and tables.
    Exit code: 0 when all that was downloaded has marks and a page, 1 when something has not, 2 when the call itself is
    wrong.
    """
    from autograder.nbgrader import api, return_marks, return_to_gradescope
    from autograder.reports.marks_file import write

    if marks is None and feedback is None:
        raise typer.BadParameter("name --marks, --feedback, or both")
    if marks is not None and to is System.moodle and sheet is None:
        raise typer.BadParameter("Moodle takes back its own worksheet; name it with --sheet")
    if feedback is not None and to is System.gradescope:
        raise typer.BadParameter("Gradescope takes no pages; what they say of each exercise is in the zip of --marks")
    course = find_course()
    found, nbgrader = course.assignment(assignment), api(course.root)
    handed, left = return_marks.handed_in(nbgrader, found, to.value)
    if to is System.moodle:
        handed, unknown = return_marks.each_member(sheet, handed)
        left += unknown
    grades = return_marks.marks(nbgrader, found)
    missing = [*left, *return_marks.without_marks(grades, handed)]
    told = list(return_marks.to_know(grades, handed))
    if marks is not None:
        if to is System.gradescope:
            must_be_writable(marks)
            return_to_gradescope.write_autograder(nbgrader, found, handed, marks)
        elif to is System.canvas:
            write(marks, return_marks.canvas_csv(grades, handed, column or found.name))
        else:
            assert sheet is not None
            text, warning = return_marks.moodle_csv(sheet, grades, handed)
            write(marks, text)
            told += [warning] if warning else []
        print(f"wrote {marks}")
    if feedback is not None:
        must_be_writable(feedback)
        pageless = return_marks.write_pages(nbgrader, found, handed, feedback)
        missing += [f"{student} has no feedback page; autograder grade --gradebook --feedback" for student in pageless]
        print(f"wrote {feedback}")
    for line in [*missing, *told]:
        print(printable(line))
    raise typer.Exit(1 if missing else 0)
