"""`autograder grade`: find what to grade, grade it with a progress bar, and show the marks as tables."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.cli.options import say
from autograder.course.assignments import Assignment, Course
from autograder.discovery import closed_folders, student_id, submission_at, submission_in
from autograder.errors import SubmissionError
from autograder.reading import write_whole
from autograder.report import Report
from autograder.reports import rubric
from autograder.reports.class_statistics import shared_answers
from autograder.reports.store import Store
from autograder.submission import Submission, stamp
from autograder.task import Task
from autograder.text import json_text, shown_name
from autograder.worker.pool import OnWait, grade, open_pool, still_marking

if TYPE_CHECKING:  # it imports nbgrader
    from autograder.nbgrader.outcomes import SubmissionOutcome

NO_PAGE = "graded, but it has no feedback page"
SOON = 2.0  # seconds until a progress bar says for whom it waits; an ordinary submission takes a fraction of one
FIELDS: dict[str, Any] = {"rate": "", "failed": "", "waits": ""}
FEW = 3  # submissions that are shown test by test, without a progress bar


@dataclass(frozen=True)
class GradingOptions:
    """How to grade.

    jobs: workers; 0 means one for each core if there are many submissions
    scheduler: address of a Dask scheduler, or empty
    quiet: show no progress bar
    """

    jobs: int
    sandbox: str
    scheduler: str
    quiet: bool


class RunProgress(contextlib.ExitStack):
    """A bar for grading, with rate and time left, and one for feedback pages if there will be any.

    shown: if not, there are only lines
    quiet: nothing at all
    goes_on: the same command goes on where this one is interrupted
    on_wait: for a pool of workers
    """

    def __init__(
        self, console: Console, total: int, shown: bool, quiet: bool, pages: bool = False, *, goes_on: bool = False
    ) -> None:
        super().__init__()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[failed]}"), TextColumn("{task.fields[waits]}"),
        )  # fmt: skip
        on_terminal = shown and console.is_terminal and not quiet
        self._bars = Progress(*columns, console=console, transient=True, disable=not on_terminal)
        self._grading = self._bars.add_task("grading", total=total, **FIELDS)
        # It is there from the start, so that nobody takes the end of grading for the end of the run.
        self._pages = self._bars.add_task("feedback pages", total=total, visible=pages, **FIELDS)
        self._failed = 0
        if not quiet:
            again = "; the same command goes on there" if goes_on else ""
            self.push(lambda kind, *_: self._interrupted(console, again) if kind is KeyboardInterrupt else None)
        lines = still_marking(lambda line: console.print(Text(line)))
        self.on_wait: OnWait = self._show_wait if on_terminal else (lambda *_: None) if quiet else lines

    def __enter__(self) -> RunProgress:
        self.enter_context(self._bars)
        return self

    def graded(self, failed: bool) -> None:
        """One more submission is graded, or could not be."""
        self._failed += failed
        speed = self._bars.tasks[0].finished_speed or self._bars.tasks[0].speed
        fields: dict[str, Any] = {
            "rate": f"{speed:.1f} a second" if speed else "",
            "failed": f"{self._failed} not gradable" if self._failed else "",
            "waits": "",
        }
        self._bars.update(self._grading, advance=1, **fields)

    def _interrupted(self, console: Console, again: str) -> None:
        bar = self._bars.tasks[0]
        console.print(f"interrupted: {bar.completed:.0f} of {bar.total:.0f} were graded{again}")

    def page_done(self) -> None:
        """One more submission has its page, or needs no new one."""
        self._bars.update(self._pages, advance=1)

    def _show_wait(self, task: Task, seconds: float) -> None:
        if seconds >= SOON:
            words = f"marking {shown_name(task.student)}, {task.assignment} ({seconds:.0f} s)"
            self._bars.update(self._grading, waits=escape(words))


def find_submissions(paths: list[Path], course: Course, only: str | None = None) -> list[Submission]:
    """The submissions below `paths`: notebooks, or folders laid out STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.

    Raises `SubmissionError` if a path holds nothing that can be graded.
    """
    found: list[Submission] = []
    for path in paths:
        if path.is_dir():
            below = [each for each in _in_folder(path, course) if only in (None, each.assignment)]
            if not below:
                raise SubmissionError(f"{path}: no submission in it; the layout is STUDENT/ASSIGNMENT/NOTEBOOK.ipynb")
            found += below
        elif path.exists() or path.is_symlink():
            found.append(_single(path, course, only))
        else:
            raise SubmissionError(f"{path}: no such file or folder")
    return found


def _single(path: Path, course: Course, only: str | None) -> Submission:
    """One notebook. The option, the folder or the file name gives its assignment; the folder gives its student."""
    names, folder = course.assignments, Path(os.path.abspath(path)).parent.name
    assignment = course.of_notebook(path.name)
    name = only or (folder if folder in names else assignment.name if assignment else None)
    if name is None:
        raise SubmissionError(f"{path}: which assignment is this? Pass --assignment, one of {', '.join(names)}")
    return submission_at(path, name, names.get(name))


def _in_folder(folder: Path, course: Course) -> Iterator[Submission]:
    folder, names = Path(os.path.abspath(folder)), course.assignments  # so that `.` has a name
    if folder.name in names:  # STUDENT/ASSIGNMENT itself
        yield submission_in(folder.parent.name, folder, names[folder.name])
        return
    children = sorted(p for p in folder.iterdir() if p.is_dir())
    if work := [child for child in children if child.name in names]:  # one student's folder
        for child in work:
            yield submission_in(folder.name, child, names[child.name])
        return
    broken, closed = course.broken, dict(closed_folders(folder))
    handed_in = dict[str, Assignment]()
    for student in (child for child in children if child.name not in closed):
        for child in sorted(student.iterdir()):
            if child.name in names:
                handed_in[child.name] = names[child.name]
                yield submission_in(student.name, child, names[child.name])
            elif child.name in broken and child.is_dir():
                yield Submission(student_id(student.name), child.name, child, broken[child.name])
    # An unreadable folder may hold anything, so it counts as one failed submission of each assignment found.
    for name, reason in closed.items():
        for assignment in handed_in.values():
            path = folder / name / assignment.name / assignment.notebook.name
            yield Submission(student_id(name), assignment.name, path, reason)


def grade_files(
    found: list[Submission], course: Course, options: GradingOptions, console: Console, json_file: Path | None
) -> list[Report]:
    """Grade submissions, and write their reports to `json_file`, in the same order.

    The course's store lets an interrupted run go on, unless the file is a terminal or a pipe.
    """
    is_file = json_file is not None and json_file != Path("-") and (json_file.is_file() or not json_file.exists())
    store = Store(course.root) if is_file and os.access(course.root, os.W_OK) else None
    stamps = [stamp(each, _version(course, each.assignment)) for each in found]
    known = {key: report for key, report in store.unfinished().items() if key in stamps} if store else {}
    if known:
        console.print(f"continuing: {len(known)} were graded before the last run was interrupted")
    left = [each for each, key in zip(found, stamps, strict=True) if key not in known]
    progress = RunProgress(console, len(found), shown=len(found) > FEW, quiet=options.quiet, goes_on=bool(store))
    workers = open_pool(course.root, len(left), options.jobs, options.sandbox, options.scheduler, progress.on_wait)
    with contextlib.closing(workers), progress, _kept(store) as keep:
        fresh, reports = grade(left, course, workers), list[Report]()
        for key in stamps:
            report = known.get(key) or next(fresh).report
            if key not in known and report.status == "graded":  # a failure may have been the machine's fault
                keep(key, report)
            reports.append(report)
            progress.graded(report.status == "failed")
    if json_file is not None:
        text = json_text([report.to_dict() for report in reports])
        print(text, end="") if json_file == Path("-") else write_whole(json_file, text)
    if store:
        store.finish(stamps)
    return reports


@contextlib.contextmanager
def _kept(store: Store | None) -> Iterator[Callable[[str, Report], None]]:
    """A function that keeps a report for the next run, if there is a store."""
    unsaved, saved_at = dict[str, Report](), 0.0

    def keep(key: str, report: Report) -> None:
        nonlocal saved_at
        unsaved[key] = report
        if store and time.monotonic() > saved_at + 1:  # each time waits for the disk
            store.begin(unsaved)
            unsaved.clear()
            saved_at = time.monotonic()

    try:
        yield keep
    finally:
        if store:
            store.begin(unsaved)


def _version(course: Course, name: str) -> str:
    return "" if name in course.broken else course.assignment(name).version


def grade_class(
    course: Course,
    only: str | None,
    options: GradingOptions,
    console: Console,
    feedback: bool,
    force: bool,
    accept: bool,
) -> int:
    """Grade submitted/ into nbgrader's gradebook. Returns the exit code: 0 if every mark and page was written, else 1.

    only: an assignment; all if not given
    feedback: make feedback pages, too
    force: grade submissions that have not changed, too
    accept: write marks that only a change of the course has moved, too
    """
    from autograder.nbgrader.whole_class import grade_into_gradebook, submitted

    found = submitted(course, only)
    total, assignments = sum(count for _, count in found), [assignment for assignment, _ in found]
    settings = {"jobs": options.jobs, "scheduler": options.scheduler, "force": force, "accept_changes": accept}
    notices: list[str] = []
    with RunProgress(console, total, shown=True, quiet=options.quiet, pages=feedback, goes_on=True) as progress:
        outcomes = grade_into_gradebook(
            course,
            assignments,
            settings,
            options.sandbox,
            feedback=feedback,
            on_graded=lambda outcome: progress.graded(bool(outcome.reason)),
            on_notice=notices.append,
            on_page=progress.page_done,
            on_wait=progress.on_wait,
        )
    say(console, *(f"warning: {notice}" for notice in notices))
    folder = course.root / "submitted"
    broken = [why for name, why in course.broken.items() if only is None and any(folder.glob(f"*/{glob.escape(name)}"))]
    return 0 if _show_outcomes(outcomes, total, broken, console) else 1


def _show_outcomes(outcomes: Sequence[SubmissionOutcome], total: int, broken: Sequence[str], console: Console) -> bool:
    """What became of a class, last in numbers. True if every mark and page was written. broken: assignments, and why"""
    failed = [outcome for outcome in outcomes if outcome.reason]
    for line in _failures(failed):
        console.print(line)
    pageless = [outcome for outcome in outcomes if outcome.no_feedback]
    say(console, *(f"{shown_name(one.student)}, {one.assignment}: {NO_PAGE}: {one.no_feedback}" for one in pageless))
    held = [outcome for outcome in outcomes if outcome.held]
    say(console, *_moved_marks([outcome for outcome in outcomes if outcome.moved]))
    say(console, *broken)
    graded = [outcome for outcome in outcomes if not (outcome.reason or outcome.unchanged or outcome.held)]
    same = total - len(graded) - len(failed) - len(held)
    unchanged = f", {same} unchanged since they were graded" if same else ""
    left = f", {len(held)} left as they were" if held else ""
    console.print(f"{len(graded)} graded{unchanged}{left}, {len(failed)} could not be graded")
    return not (failed or pageless or held or broken)


def _failures(failed: Iterable[Report | SubmissionOutcome]) -> Iterator[Text]:
    """A line for each reason in each assignment, with all who share it."""
    by_assignment: dict[str, list[tuple[str, str | None]]] = {}
    for one in failed:
        by_assignment.setdefault(one.assignment, []).append((shown_name(one.student), one.reason))
    for assignment, pairs in by_assignment.items():
        for students, reason in rubric.by_reason(pairs):
            yield Text(f"{students}, {assignment}: {reason}")


def _moved_marks(moved: Sequence[SubmissionOutcome]) -> Iterator[str]:
    """The marks that a change of the course has moved or would move, and what to do about them."""
    from autograder.nbgrader.outcomes import left_alone, taken_back

    for outcome in moved:
        yield f"{shown_name(outcome.student)}, {outcome.assignment}: {outcome.moved}"
    for held, advice in ((True, left_alone), (False, taken_back)):
        counts = Counter(outcome.assignment for outcome in moved if outcome.held == held)
        yield from (advice(name, count) for name, count in counts.items())


# ---------------------------------------------------------------- tables


def show(reports: list[Report], console: Console, quiet: bool) -> None:
    """Show a few reports test by test, or many as a table for each assignment.

    quiet: show only what could not be graded, and the sum
    """
    failed = [report for report in reports if report.status == "failed"]
    if quiet:
        for line in _failures(failed):
            console.print(line)
        console.print(f"{len(reports) - len(failed)} graded, {len(failed)} could not be graded")
    elif len(reports) <= FEW:
        for report in reports:
            _show_one(report, console)
    else:
        for assignment in dict.fromkeys(report.assignment for report in reports):
            _show_class(assignment, [report for report in reports if report.assignment == assignment], console)
    say(console, *(f"warning: {one}" for one in shared_answers(reports)))


def _show_class(assignment: str, reports: list[Report], console: Console) -> None:
    """The marks of a class. Heads are names, broken at underscores; if that is too wide, numbers with a key below."""
    names = next(([e.name for e in report.exercises] for report in reports if report.exercises), [])
    table, key = _class_table([name.replace("_", "_\n") for name in names], assignment, reports), dict[str, str]()
    if console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum > console.width:
        key = {str(number): name for number, name in enumerate(names, 1)}
        table = _class_table([*key], assignment, reports)
    console.print(table)
    reasons = rubric.by_reason((shown_name(report.student), report.reason) for report in reports if report.reason)
    say(console, *(f"{number}: {name}" for number, name in key.items()), *map(": ".join, reasons))


def _class_table(heads: Sequence[str], assignment: str, reports: list[Report]) -> Table:
    """heads: of the exercises"""
    table = Table(title=assignment, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("student", overflow="fold")
    for head in ("marks", *heads):
        table.add_column(head, justify="right", overflow="fold")
    for report in reports:
        scores = [rubric.points(exercise.score) for exercise in report.exercises]
        table.add_row(Text(shown_name(report.student)), _marks(report), *scores)
    return table


def _show_one(report: Report, console: Console) -> None:
    console.print(Text(f"\n{shown_name(report.student)}, {report.assignment}: {_marks(report)}", style="bold"))
    if report.reason:
        say(console, f"  {report.reason}")
    for exercise in report.exercises:
        say(console, rubric.as_text(exercise))


def _marks(report: Report) -> str:
    if report.status == "failed":
        return "not graded"
    return f"{rubric.points(report.score)} / {rubric.points(report.max_score)}"
