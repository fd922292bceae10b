"""Commands from and to other systems: `export`, `bundle` and `return`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from rich.console import Console
from typer import Argument, BadParameter, Exit, Option

from autograder import systems
from autograder.cli.options import MarksFiles, Roster, Visibility, ids_in, must_be_writable, say, say_written
from autograder.course.assignments import find_course
from autograder.text import alike, shown_name


def export(
    marks: MarksFiles,
    csv: Annotated[Path | None, Option(help="Write a table with a row for each exercise.")] = None,
    gradescope: Annotated[Path | None, Option(help="Write Gradescope's STUDENT/ASSIGNMENT/results.json.")] = None,
    classroom50: Annotated[Path | None, Option(help="Write Classroom 50's result.json for one submission.")] = None,
    points: Annotated[str, Option(help="For Classroom 50: points by exercise, such as median=4,mode=5.")] = "",
    visibility: Annotated[Visibility, Option(help="For Gradescope: when students see their results.")] = "visible",
    messages: Annotated[
        bool, Option("--messages/--no-messages", help="For Gradescope: include the tests' messages.")
    ] = True,
    roster: Roster = None,
) -> None:
    """Write marks in formats of other programs. Every student has a row in each assignment."""
    from autograder.reports.marks_file import exercises_as_csv, read_marks, write
    from autograder.reports.roster import with_absent
    from autograder.systems.classroom50 import as_classroom50, read_points
    from autograder.systems.gradescope import gradescope_files

    if csv is None and gradescope is None and classroom50 is None:
        raise BadParameter("name at least one of --csv, --gradescope and --classroom50")
    reports = with_absent(read_marks(marks), ids_in(roster))
    for names in alike(report.student for report in reports):
        print(f"{' and '.join(map(shown_name, names))} look alike; they are {len(names)} students, with a row each")
    if csv is not None:
        write(csv, exercises_as_csv(reports))
    if gradescope is not None:
        for path, text in gradescope_files(reports, gradescope, visibility, messages):
            write(path, text)
    if classroom50 is not None:
        if len(reports) > 1:
            raise BadParameter("--classroom50 is for one submission")
        found = reports[0] if reports else None
        write(classroom50, as_classroom50(found, read_points(points), os.environ))
    say_written(path for path in (csv, gradescope, classroom50) if path is not None)


def bundle(
    assignment: Annotated[str, Argument(help="The assignment.")],
    gradescope: Annotated[Path | None, Option(help="Write a zip for Gradescope.")] = None,
    classroom50: Annotated[Path | None, Option(help="Write Classroom 50's autograder into this folder.")] = None,
    requirement: Annotated[
        list[str] | None,
        Option(help="For Classroom 50: what pip installs, by default the wheels in that folder."),
    ] = None,
    visibility: Annotated[
        Visibility, Option(help="For Gradescope: when students see their results.")
    ] = "after_due_date",
    without_sandbox: Annotated[
        bool,
        Option(
            "--without-sandbox",
            help="For Gradescope: grade without a sandbox and messages; student code can read the suites.",
        ),
    ] = False,
) -> None:
    """Write an autograder for Gradescope (hidden tests) or Classroom 50 (visible tests).

    Gradescope's grades nothing in a container where no sandbox works.
    """
    from autograder.systems import classroom50 as for_classroom50
    from autograder.systems import gradescope as for_gradescope

    if gradescope is None and classroom50 is None:
        raise BadParameter("name --gradescope, --classroom50, or both")
    found = find_course().assignment(assignment)
    if gradescope is not None:
        must_be_writable(gradescope)
        for_gradescope.write_bundle(found, gradescope, visibility, not without_sandbox)
        print(f"wrote {gradescope}")
    if classroom50 is not None:
        print(f"wrote {for_classroom50.write_bundle(found, classroom50, requirement or ())}")


def return_(
    assignment: Annotated[str, Argument(help="The assignment.")],
    to: Annotated[str, Option(help=f"Where the submissions came from: {systems.names()}.")],
    marks: Annotated[Path | None, Option(help="Write the marks: a CSV file, or a zip for Gradescope.")] = None,
    feedback: Annotated[Path | None, Option(help="Write a zip of feedback pages.")] = None,
    sheet: Annotated[Path | None, Option(help="Moodle's grading worksheet, to fill in.")] = None,
    column: Annotated[str | None, Option(help='Column in Canvas, such as "Homework 1 (98765)".')] = None,
) -> None:
    """Write marks and feedback pages to send back to where submissions came from.

    Marks come from the gradebook, with manual grades and penalties. For Gradescope, they are an autograder to upload.
    Exit code: 1 if a downloaded submission has no marks or no page; it is listed.
    """
    from autograder.nbgrader import api
    from autograder.systems.returning import give_back

    if marks is None and feedback is None:
        raise BadParameter("name --marks, --feedback, or both")
    must_be_writable(marks)
    must_be_writable(feedback)
    course = find_course()
    options = {name: str(value) for name, value in (("sheet", sheet), ("column", column)) if value is not None}
    missing, notices = give_back(api(course.root), course.assignment(assignment), to, marks, feedback, options)
    say_written(path for path in (marks, feedback) if path is not None)
    say(Console(), *missing, *notices)
    raise Exit(1 if missing else 0)
