"""The command line."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.course import find_course
from autograder.errors import AutograderError, MachineError
from autograder.faces import rubric
from autograder.marking.many import grade_many, worker_count
from autograder.marking.report import Report
from autograder.sandbox.launch import why_no_bubblewrap
from autograder.submission import Submission, find_submissions

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
dev = typer.Typer(no_args_is_help=True, help="For those who edit the course.")
app.add_typer(dev, name="dev")
FEW = 3  # up to this many submissions are shown test by test, and need no progress bar


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
        list[Path], typer.Argument(help="Notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.")
    ],
    assignment: Annotated[
        str | None, typer.Option(help="Grade this assignment only; also says which one a lone notebook is.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Worker processes; 0 means one a core.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the full report to this file; - for the terminal.")
    ] = None,
    sandbox: Annotated[
        SandboxKind, typer.Option(help="auto uses bubblewrap where it works, and warns where not.")
    ] = SandboxKind.auto,
) -> None:
    """Grade notebooks with the hidden suites. Low marks are no failure.

    Exit code: 0 when everything was graded, 1 when a submission could not be (it stays in the report with its
    reason), 2 when the call itself is wrong.
    """
    console = Console(stderr=json_file == Path("-"))
    course = find_course()
    if assignment is not None:
        course.assignment(assignment)
    found = find_submissions(paths, course, assignment)
    _warn(sandbox)
    _must_be_writable(json_file)
    reports = _with_progress(found, course.root, worker_count(jobs, len(found)), sandbox.value, console)
    if json_file is not None:
        _write_json(reports, json_file)
    _show(reports, console)
    raise typer.Exit(1 if any(report.status == "failed" for report in reports) else 0)


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


def _with_progress(found: list[Submission], root: Path, jobs: int, kind: str, console: Console) -> list[Report]:
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=len(found) <= FEW) as progress:
        task = progress.add_task("", total=len(found), failed="")
        reports: list[Report] = []
        failed = 0
        for report in grade_many(found, root, jobs, kind):
            reports.append(report)
            failed += report.status == "failed"
            progress.update(task, advance=1, failed=f"{failed} not gradable" if failed else "")
    return reports


def _write_json(reports: list[Report], path: Path) -> None:
    text = json.dumps([report.to_dict() for report in reports], indent=2, ensure_ascii=False)
    if path == Path("-"):
        print(text)
        return
    path.write_text(text + "\n", encoding="utf-8")


def _show(reports: list[Report], console: Console) -> None:
    if len(reports) <= FEW:
        for report in reports:
            _show_one(report, console)
        return
    for assignment in dict.fromkeys(report.assignment for report in reports):
        console.print(class_table(assignment, [r for r in reports if r.assignment == assignment]))


def class_table(assignment: str, reports: list[Report]) -> Table:
    """One assignment's marks: a row a student, a column an exercise."""
    names = next(([e.name for e in report.exercises] for report in reports if report.exercises), [])
    table = Table(title=assignment, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("student")
    table.add_column("marks", justify="right")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for report in reports:
        scores = [rubric.points(exercise.score) for exercise in report.exercises]
        table.add_row(Text(report.student), _marks(report), *scores)
    reasons = [f"{report.student}: {report.reason}" for report in reports if report.reason]
    table.caption, table.caption_justify = Text("\n".join(reasons)), "left"
    return table


def _show_one(report: Report, console: Console) -> None:
    console.print(Text(f"\n{report.student}, {report.assignment}: {_marks(report)}", style="bold"))
    if report.reason:
        console.print(Text(f"  {report.reason}"))
    for exercise in report.exercises:
        console.print(Text(rubric.as_text(exercise)))


def _marks(report: Report) -> str:
    if report.status == "failed":
        return "not graded"
    return f"{rubric.points(report.score)} / {rubric.points(report.max_score)}"


def main() -> None:
    """Entry point of `autograder`: a user's mistake is one clear line and exit code 2."""
    try:
        app()
    except AutograderError as error:
        Console(stderr=True).print(Text(f"autograder: {error}"))
        sys.exit(2)
