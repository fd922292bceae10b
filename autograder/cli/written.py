"""`autograder written`: a page to grade written questions on, and what was decided there back into the gradebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.course import find_course


def written(
    assignment: Annotated[str, typer.Argument(help="The assignment whose written questions are graded.")],
    page: Annotated[Path | None, typer.Option(help="Write a page to grade them on: one file, no network.")] = None,
    apply: Annotated[Path | None, typer.Option(help="Enter what was saved on the page into the gradebook.")] = None,
) -> None:
    """Grade written questions on one page: equal and nearly equal answers together, points by a click on the rubric.

    Names are not shown. What has changed since the page was made, an answer or a grade, is left out and named.
    Exit code: 0 when all was done, 1 when something was left out, 2 when the call itself is wrong.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader import written as book
    from autograder.reports import written as form
    from autograder.reports.marks_file import write

    if (page is None) == (apply is None):
        raise typer.BadParameter("name --page before you grade, and --apply after it")
    course = find_course()
    found, coursedir = course.assignment(assignment), api(course.root).coursedir
    if page is not None:
        write(page, form.as_html(assignment, book.questions(coursedir, found)))
        print(f"wrote {page}")
        return
    assert apply is not None
    count, left = book.enter(coursedir, found, form.read_decisions(apply, assignment))
    print(f"entered {count} decision{'s' * (count != 1)}")
    for line in left:
        print(line)
    raise typer.Exit(1 if left else 0)
