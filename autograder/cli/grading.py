"""`autograder grade`: a class graded with a bar to watch, and its marks as tables."""

from __future__ import annotations

import contextlib
import functools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.course import Course
from autograder.report import Report
from autograder.reports import plain_text
from autograder.submission import Submission, stamp
from autograder.text import printable, printable_lines, shown_name
from autograder.worker.pool import grade_many, worker_count
from autograder.worker.run_log import RunLog, write_whole

if TYPE_CHECKING:  # its import takes nbgrader's
    from autograder.nbgrader.outcomes import SubmissionOutcome

NO_PAGE = "graded, but its feedback page could not be made; nbgrader generate_feedback says why"
FEW = 3  # up to this many submissions are shown test by test, and need no progress bar


@dataclass(frozen=True)
class How:
    """How to grade: workers (0: one for each core), the sandbox's kind, a Dask scheduler's address or none, a bar."""

    jobs: int
    kind: str
    scheduler: str
    quiet: bool


def grade_files(
    found: list[Submission], course: Course, how: How, console: Console, report: Path | None
) -> list[Report]:
    """Grade submissions in order and write the `report` file; a run log beside it lets an interrupted run go on."""
    versions = functools.cache(lambda name: "" if name in course.broken() else course.assignment(name).version())
    with contextlib.ExitStack() as stack:
        grade = functools.partial(_grade, course=course, how=how)
        if report is None or report == Path("-") or (report.exists() and not report.is_file()):
            reports = grade(found, len(found))
        else:
            run_log = stack.enter_context(RunLog(report))
            stamped = [(one, stamp(one, versions(one.assignment))) for one in found]
            if len(run_log):
                console.print(f"going on: {len(run_log)} were graded before the last run was interrupted")
            reports = run_log.grade(stamped, lambda left: grade(left, len(found) - len(run_log)))
        step = stack.enter_context(_bar(console, len(found), how.quiet or len(found) <= FEW))
        done = []
        for one in reports:
            done.append(one)
            step(one.status == "failed")
        if report is not None:
            _write(done, report)
        return done


def _write(reports: list[Report], path: Path) -> None:
    text = json.dumps([report.to_dict() for report in reports], indent=2, ensure_ascii=False)
    if path == Path("-"):
        print(text)
    else:
        write_whole(path, text + "\n")


def _grade(submissions: Sequence[Submission], count: int, course: Course, how: How) -> Iterator[Report]:
    return grade_many(submissions, course.root, worker_count(how.jobs, count), how.kind, how.scheduler)


def grade_class(
    course: Course,
    only: str | None,
    how: How,
    console: Console,
    feedback: bool = False,
    force: bool = False,
    accept: bool = False,
) -> int:
    """Grade submitted/ into nbgrader's gradebook; the exit code: 1 if not all could be, or one has no page.

    accept: write marks, too, that a change of the course has moved
    """
    from autograder.nbgrader.gradebook import grade_into_gradebook, submitted

    found = submitted(course, only)
    settings = {"jobs": how.jobs, "scheduler": how.scheduler, "force": force, "accept_changes": accept}
    notices: list[str] = []
    with _bar(console, sum(count for _, count in found), how.quiet) as step:
        assignments = [assignment for assignment, _ in found]
        outcomes = grade_into_gradebook(
            course, assignments, settings, how.kind, lambda one: step(bool(one.reason)), feedback, notices.append
        )
    for notice in notices:
        console.print(Text(printable_lines(f"warning: {notice}")), soft_wrap=True)
    failed = [outcome for outcome in outcomes if outcome.reason]
    for outcome in failed:
        console.print(Text(f"{shown_name(outcome.student)}, {outcome.assignment}: {outcome.reason}"))
    pageless = [outcome for outcome in outcomes if outcome.no_feedback]
    for outcome in pageless:
        console.print(Text(f"{shown_name(outcome.student)}, {outcome.assignment}: {NO_PAGE}"), soft_wrap=True)
    held = [outcome for outcome in outcomes if outcome.held]
    for line in _moved_marks([outcome for outcome in outcomes if outcome.moves]):
        console.print(Text(line), soft_wrap=True)
    folder = course.root / "submitted"
    broken = [why for name, why in course.broken().items() if only is None and any(folder.glob(f"*/{name}"))]
    for why in broken:
        console.print(Text(printable(why)), soft_wrap=True)
    graded = [outcome for outcome in outcomes if not (outcome.reason or outcome.unchanged or outcome.held)]
    same = sum(count for _, count in found) - len(graded) - len(failed) - len(held)
    unchanged = f", {same} unchanged since they were graded" if same else ""
    left = f", {len(held)} left as they were" if held else ""
    console.print(f"{len(graded)} graded{unchanged}{left}, {len(failed)} could not be graded")
    return 1 if failed or pageless or held or broken else 0


def _moved_marks(moved: Sequence[SubmissionOutcome]) -> Iterator[str]:
    """Whose marks are other ones after a change of the course, or would be, and what to do."""
    from autograder.nbgrader.outcomes import left_alone, taken_back

    for outcome in moved:
        yield f"{shown_name(outcome.student)}, {outcome.assignment}: {outcome.moved}"
    for held, tell in ((True, left_alone), (False, taken_back)):
        counts = Counter(outcome.assignment for outcome in moved if outcome.held == held)
        yield from (tell(name, count) for name, count in counts.items())


@contextlib.contextmanager
def _bar(console: Console, total: int, hidden: bool) -> Iterator[Any]:
    """A bar with rate and time left; gives a function to call for each submission: `step(failed)`."""
    columns = (
        TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(), TextColumn("{task.fields[failed]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=total, failed="", rate="")
        count = 0

        def step(failed: bool) -> None:
            nonlocal count
            count += failed
            speed = progress.tasks[0].finished_speed or progress.tasks[0].speed
            progress.update(
                task,
                advance=1,
                rate=f"{speed:.1f} a second" if speed else "",
                failed=f"{count} not gradable" if count else "",
            )

        yield step


# ---------------------------------------------------------------- tables


def show(reports: list[Report], console: Console, quiet: bool = False) -> None:
    """A few reports test by test, many as a table for each assignment; quiet: what could not be graded, and the sum."""
    failed = [report for report in reports if report.status == "failed"]
    if quiet:
        for report in failed:
            console.print(Text(f"{shown_name(report.student)}, {report.assignment}: {report.reason}"))
        console.print(f"{len(reports) - len(failed)} graded, {len(failed)} could not be graded")
    elif len(reports) <= FEW:
        for report in reports:
            _show_one(report, console)
    else:
        for assignment in dict.fromkeys(report.assignment for report in reports):
            console.print(class_table(assignment, [r for r in reports if r.assignment == assignment]))


def class_table(assignment: str, reports: list[Report]) -> Table:
    """One assignment's marks: a row for each student, a column for each exercise."""
    names = next(([e.name for e in report.exercises] for report in reports if report.exercises), [])
    table = Table(title=assignment, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("student")
    table.add_column("marks", justify="right")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for report in reports:
        scores = [plain_text.points(exercise.score) for exercise in report.exercises]
        table.add_row(Text(shown_name(report.student)), _marks(report), *scores)
    reasons = [f"{shown_name(report.student)}: {report.reason}" for report in reports if report.reason]
    table.caption, table.caption_justify = Text("\n".join(reasons)), "left"
    return table


def _show_one(report: Report, console: Console) -> None:
    console.print(Text(f"\n{shown_name(report.student)}, {report.assignment}: {_marks(report)}", style="bold"))
    if report.reason:
        console.print(Text(f"  {report.reason}"))
    for exercise in report.exercises:
        console.print(Text(printable_lines(plain_text.as_text(exercise))))
    if report.extra:
        console.print(Text(printable(report.extra)))


def _marks(report: Report) -> str:
    if report.status == "failed":
        return "not graded"
    return f"{plain_text.points(report.score)} / {plain_text.points(report.max_score)}"
