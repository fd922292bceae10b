"""Commands for the marks and the people of a class: regrades, reports, and what happens in the middle of a term."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from rich.console import Console
from typer import Argument, BadParameter, Exit, Option

from autograder.cli.options import Jobs, MarksFiles, Note, Roster, SandboxName, StudentId, Write, ids_in, say, warn
from autograder.course.assignments import FULL_POINTS, OUT_OF_TOTAL, WITHDRAWN, find_course
from autograder.errors import AutograderError
from autograder.report import Report
from autograder.text import in_shell, printable, shown_name

MAX_DAYS = 3650  # of an extension


def regrade(
    assignment: Annotated[str, Argument(help="The assignment.")],
    write: Write = False,
    undo: Annotated[bool, Option("--undo", help="Undo the last --write.")] = False,
    student: Annotated[str, Option(help="Regrade only this student (id).")] = "",
    note: Note = "",
    jobs: Jobs = 0,
    sandbox: SandboxName = "auto",
) -> None:
    """Show who gains and who loses after a change of suite or points. Only --write changes marks.

    Manual grades stay. Exit code: 1 if nobody could be graded again.
    """
    from autograder.cli.regrade import run
    from autograder.cli.regrade import undo as undo_last

    if write and undo:
        raise BadParameter("--write and --undo do not go together")
    course = find_course()
    if undo:
        undo_last(course, course.assignment(assignment), Console())
        return
    warn(sandbox, course)
    again = f"autograder regrade {assignment}" + (f" --student {student}" if student else "")
    found, at_once = course.assignment(assignment), contextlib.nullcontext()
    run(course, found, Console(), jobs, sandbox, write, student, note, again, "regrade", at_once)


def roster(file: Annotated[Path, Argument(help="CSV file with id, name and email.")]) -> None:
    """Enter the class into the gradebook, so that formgrader shows names and exports have a row for everybody.

    An id is a folder in submitted/; in a file from Canvas, the number at its end. Nobody is removed.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.gradebook_rows import enter_students
    from autograder.reports.roster import folders_of_numbers, read_roster

    course = find_course()
    handed_in = course.root / "submitted"
    folders = sorted(path.name for path in handed_in.iterdir() if path.is_dir()) if handed_in.is_dir() else []
    people = read_roster(file)
    entered = {person.id for person in people}
    ids = folders_of_numbers(entered, folders)
    fresh, named = enter_students(api(course.root).coursedir, people, ids)
    print(f"entered {len(people)} student{'s' * (len(people) != 1)}, {fresh} of them new to the gradebook")
    if ids and (numbers := sorted(one for one in entered - ids.keys() if one.isdigit())):
        print(f"no folder in submitted/ yet, so the id is the number for now: {', '.join(map(printable, numbers))}")
    if strangers := [name for name in folders if name not in {*entered, *ids.values(), *named}]:
        print(f"submitted/ has folders that are nobody's in the roster: {', '.join(map(shown_name, strangers))}")


def report(
    marks: MarksFiles,
    html: Annotated[Path | None, Option(help="Write a page; it needs no network.")] = None,
    csv: Annotated[Path | None, Option(help="Write a table.")] = None,
    json_file: Annotated[Path | None, Option("--json", help="Write JSON.")] = None,
    roster: Roster = None,
    submitted: Annotated[Path | None, Option(help="With --html: submissions, for examples and equal work.")] = None,
    feedback: Annotated[Path | None, Option(help="With --html: feedback pages, to link to.")] = None,
    gradebook: Annotated[bool, Option("--gradebook", help="With --html: add late work and manual grades.")] = False,
) -> None:
    """Show how the class is doing: marks, exercises, tests, the most common mistakes, and who needs help.

    Of two marks for an assignment, the later one counts.
    """
    from autograder.reports import class_report
    from autograder.reports.class_statistics import class_statistics
    from autograder.reports.marks_file import read_marks, write

    reports, everybody = read_marks(marks), ids_in(roster)
    statistics = class_statistics(reports, everybody)
    remarks = _remarks_in_gradebook(reports, marks) if gradebook else {}
    formats: dict[Path | None, Callable[..., str]] = {csv: class_report.as_table, json_file: class_report.as_json}
    if html is not None:
        beside = class_report.what_is_beside(reports, everybody, html, submitted, feedback, remarks)
        formats = {html: functools.partial(class_report.as_html, beside=beside), **formats}
    for path, text in formats.items():
        if path is not None:
            write(path, text(statistics))
            print(f"wrote {path}")
    if not any(formats):
        class_report.show(statistics, Console())


def _remarks_in_gradebook(reports: Sequence[Report], marks: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The gradebook's remarks by assignment and student. Prints who has other marks in it than in the files `marks`."""
    from autograder.nbgrader import api
    from autograder.nbgrader.outcomes import other_marks
    from autograder.nbgrader.totals import assign_penalties, messages_of_marks

    course = find_course()
    nbgrader = api(course.root)
    for assignment in course.assignments.values():
        assign_penalties(nbgrader, assignment)
    remarks, other = messages_of_marks(nbgrader.coursedir), other_marks(nbgrader.coursedir, reports)
    if who := ", ".join(sorted(f"{shown_name(student)} in {name}" for name, student in other)):
        files = ", ".join(map(str, marks))
        say(Console(), f"{files} does not have the gradebook's marks by tests: {who}.")
        say(Console(), f"autograder grade submitted --json {marks[-1]} writes the present ones")
    return remarks | {key: "; ".join(filter(None, (remarks.get(key), text))) for key, text in other.items()}


def withdraw(
    exercise: Annotated[str, Argument(help="The exercise to withdraw.")],
    out_of_total: Annotated[bool, Option("--out-of-total", help="Count it for nobody.")] = False,
    back: Annotated[bool, Option("--back", help="End the withdrawal.")] = False,
    write: Write = False,
    note: Note = "",
    jobs: Jobs = 0,
    sandbox: SandboxName = "auto",
) -> None:
    """Withdraw an exercise: everybody who has handed in gets its points, or it counts for nobody.

    This overrides manual grades. Without --write, it only shows who gains and who loses. With it, withdrawn.toml
    records the withdrawal.
    """
    from autograder.cli.regrade import run
    from autograder.nbgrader import api
    from autograder.nbgrader.gradebook_rows import take_over_points
    from autograder.nbgrader.regrade import somebody_has_marks, withdrawal_written

    if back and out_of_total:
        raise BadParameter("--back and --out-of-total do not go together")
    course = find_course()
    assignment = course.of_exercise(exercise)
    exercises = {name: how for name, how in assignment.withdrawn.items() if name != exercise}
    if not back:
        exercises[exercise] = OUT_OF_TOTAL if out_of_total else FULL_POINTS
    withdrawals = {**course.withdrawn, assignment.name: exercises}
    then = replace(course, withdrawals=withdrawals).assignment(assignment.name)
    warn(sandbox, course)
    again = f"autograder withdraw {exercise}" + " --out-of-total" * out_of_total + " --back" * back
    reason = f"{exercise} {'counts again' if back else 'withdrawn'}"
    coursedir = api(course.root).coursedir
    if somebody_has_marks(coursedir, assignment):
        run(course, then, Console(), jobs, sandbox, write, "", note, again, reason, withdrawal_written(then))
    elif write:
        with withdrawal_written(then):
            take_over_points(coursedir, then)
    else:
        say(Console(), f"Nobody's {assignment.name} is graded yet, so no mark changes. To write it: {again} --write")
    if write:
        print(f"{then.root / WITHDRAWN} is up to date, too.")


def extend(
    student: StudentId,
    assignment: Annotated[str, Argument(help="The assignment.")],
    days: Annotated[float, Option(min=0, help="Days after the due date; 0 takes an extension back.")],
) -> None:
    """Give one student more time. This replaces an earlier extension and updates a late penalty."""
    from autograder.nbgrader import api, due, history

    if not days <= MAX_DAYS:
        raise BadParameter(f"--days {days:g}: at most {MAX_DAYS}, which is ten years")
    course = find_course()
    found, nbgrader = course.assignment(assignment), api(course.root)
    when = due.extend(nbgrader, found, student, timedelta(days=days))
    history.record(nbgrader.coursedir, assignment, student, "extension", f"due {due.shown(when)}")
    print(f"{shown_name(student)}: {assignment} is due {due.shown(when)}")


def why(student: StudentId, assignment: Annotated[str, Argument(help="The assignment.")]) -> None:
    """Explain a mark in ten lines: what happened when, and what the tests say.

    Exit code: 1 if the gradebook has another mark than the report that is stored with it.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.why import lines

    course = find_course()
    history, same = lines(course.assignment(assignment), api(course.root), student)
    say(Console(), *history)
    raise Exit(0 if same else 1)


def questions(student: StudentId, assignment: Annotated[str, Argument(help="The assignment.")]) -> None:
    """Print questions about the lines that a student handed in, with answers, for an oral examination.

    They are those that `check` asks once an exercise is green. The code runs in the sandbox; no mark changes.
    """
    from autograder.cli.check_notebook import oral_questions

    say(Console(), *oral_questions(find_course(), student, assignment))


def forget(student: StudentId) -> None:
    """Delete a student's history: stored marks, submissions and reports.

    It then lists where else data about the student remains, such as the gradebook.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.gradebook_rows import is_student
    from autograder.reports.store import Store

    course, shown = find_course(), shown_name(student)
    removed, is_known = Store(course.root).forget(student), is_student(api(course.root).coursedir, student)
    folders = [name for name in ("submitted", "autograded", "feedback") if (course.root / name / student).is_dir()]
    if not (removed or is_known or folders):
        raise AutograderError(f"there is no {shown} in this course: no history, no folder, no row of the gradebook")
    print(f"{shown}: {'the history is deleted' if removed else 'no history'}")
    for name in folders:
        print(f"still there: {name}/{shown}")
    if is_known:
        print(f"the gradebook's rows: nbgrader db student remove {in_shell(student)} --force")
    if (course.root / "downloaded").is_dir():
        print("downloaded/ has what the class handed in; remove the student's files there, and the zips with them")
    print("files that you wrote with grade --json, report, export, written or return may name the student")


def written(
    assignment: Annotated[str, Argument(help="The assignment.")],
    page: Annotated[Path | None, Option(help="Write a page to grade on; it needs no network.")] = None,
    apply: Annotated[Path | None, Option(help="Enter what you saved on that page.")] = None,
) -> None:
    """Grade written questions on one anonymous page: similar answers together, points by clicks on the rubric.

    --apply lists and skips answers and grades that have changed since. Exit code: 1 if there are any.
    """
    from autograder.nbgrader import api
    from autograder.nbgrader.written import enter, questions
    from autograder.reports.marks_file import write
    from autograder.reports.written import as_html, read_decisions

    if (page is None) == (apply is None):
        raise BadParameter("name --page before you grade, and --apply after it")
    course = find_course()
    found, coursedir = course.assignment(assignment), api(course.root).coursedir
    if page is not None:
        write(page, as_html(assignment, questions(coursedir, found)))
        print(f"wrote {page}")
        return
    assert apply is not None
    count, left = enter(coursedir, found, read_decisions(apply, assignment))
    print(f"entered {count} decision{'s' * (count != 1)}")
    for line in left:
        print(line)
    raise Exit(1 if left else 0)
