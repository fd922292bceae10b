"""nbgrader's Autograde, made safe for untrusted files: an adapter between nbgrader and `worker.pool.grade`.

nbgrader's own waits when it opens a pipe, follows a link and copies its target, and answers a broken notebook with a
traceback. No setting changes that, so this class replaces it. `hardening.files` copies what lies beside a notebook.
`history.Graded` says what is graded already, and `preprocessor` writes marks into a notebook and into the gradebook.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock, Timeout
from msgspec import structs
from nbgrader.converters import Autograde as NbGraderAutograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import setenv
from traitlets import Bool, Integer, List, Unicode

from autograder.course.assignments import Assignment, course_at
from autograder.discovery import closed_folders, submission_in
from autograder.errors import EXPECTED, CourseError, SubmissionError, in_words
from autograder.nbgrader import gradebook_backup, history
from autograder.nbgrader.gradebook_rows import (
    enter_student,
    exercises_with_points,
    marks_preserved,
    points_that_differ,
)
from autograder.nbgrader.hardening.files import PlainFiles, convert_student, digest_of, folders_of, remove_tree
from autograder.nbgrader.hardening.restore import as_plain, shorten_code
from autograder.nbgrader.hardening.timestamps import follow_timestamp, handed_in_at
from autograder.nbgrader.history import Basis, Graded
from autograder.nbgrader.outcomes import SubmissionOutcome, moves, notices_of, reason_of, report_failures
from autograder.nbgrader.preprocessor import KEY, GradingContext, context_of
from autograder.nbgrader.totals import assign_penalty, check_penalty_plugin, no_due_date, students_late
from autograder.reading import read_bytes
from autograder.report import Report
from autograder.reports.store import Store
from autograder.submission import MAX_BYTES, NotebookFile, Submission, notebook_of, read_notebook, stamp_with
from autograder.task import Marked
from autograder.text import one_line, printable, shown_name
from autograder.worker.executors import IdleWorkers
from autograder.worker.pool import OnWait, WorkerPool, grade, open_pool, still_marking, what_is_unsafe

LOCK = ".autograder.lock"


@contextlib.contextmanager
def only_one_run(root: Path, log: Any) -> Iterator[None]:
    """Hold the course's lock; the operating system releases it when this process ends.

    Raises `NbGraderException` if another run holds it, and in place of an error of ours, so that nbgrader's command
    prints one sentence and exits with 1.
    """
    try:
        with FileLock(root / LOCK, blocking=False):
            yield
    except Exception as error:
        if isinstance(error, Timeout):
            message: str | None = f"another run is grading {root}; wait for it to end, then run this again"
        else:
            message = str(error) if isinstance(error, EXPECTED) else in_words(error)
        if message is None:
            raise
        log.error("%s", message)
        raise NbGraderException(message) from None


class Autograde(NbGraderAutograde, PlainFiles):
    """nbgrader's own steps for each submission, while workers mark the next ones.

    All submissions are read first. One that cannot be graded is reported, and the others are graded. What was graded
    before is not graded again, unless the submission or the course has changed since.

    outcomes, notices: what became of each submission, and sentences for the instructor, once it has run
    """

    jobs = Integer(0, min=0, help="Workers; 0 means one, or one per core from 60 submissions on.").tag(config=True)
    scheduler = Unicode("", help="Grade on the Dask cluster with this address.").tag(config=True)
    accept_changes = Bool(
        False,
        help="Also write marks that differ because the course has changed; `autograder regrade --undo` undoes it.",
    ).tag(config=True)
    only = List(Unicode(), help="Grade these students; all by default.")
    saved = Bool(False, help="Whether the caller has saved the old marks.")
    reason = Unicode("", help="Reason for the history, unless there is only new work.")
    note = Unicode("", help="Note for the history, beside the reason.")
    workers: WorkerPool | None = None  # of a run over several assignments; otherwise each run opens a pool
    idle = IdleWorkers()  # nbgrader makes another of these for each click on formgrader's button
    on_graded: Callable[[SubmissionOutcome], None] = staticmethod(lambda outcome: None)

    def start(self) -> None:
        """Grade. Raises `NbGraderException` if not all could be graded, or another run is under way."""
        with only_one_run(Path(self.coursedir.root), self.log):
            super().start()

    def init_notebooks(self) -> None:
        """Begin. `convert_notebooks` looks for submissions."""
        self.notebooks: list[str] = []
        self.notices: list[str] = []
        self.moved_pictures: dict[str, int] = {}
        self.outcomes: list[SubmissionOutcome] = []

    def convert_notebooks(self) -> None:
        """Grade one student after another. Raises `NotAll` at the end if some could not be graded."""
        course = course_at(Path(self.coursedir.root))
        assignment = course.assignment(self.coursedir.assignment_id)
        basis = self._begin(assignment)
        submissions = self._read_all(assignment)
        graded = Graded(self.coursedir, assignment, basis)
        todo = self._to_mark(submissions, graded)
        reports = list[Report]()
        replaced = [] if self.saved or not self.accept_changes else [s.student for s in todo if graded.is_same_work(s)]
        with (
            self._workers_for(len(todo)) as workers,
            gradebook_backup.undoable(self.coursedir, replaced, lambda: any(one.moves for one in self.outcomes)),
        ):
            exercises = exercises_with_points(assignment, basis.points)
            results = grade(todo, course, workers, exercises, for_page=True)
            for submission, marked in zip(todo, results, strict=True):
                if not marked.refused:
                    reports.append(_without_pictures(marked.report))
                with self._costs_only(submission.student):
                    self._enter(submission, marked, graded, basis)
        self.notices += notices_of(self.coursedir, graded, reports, self.moved_pictures)
        for notice in self.notices:
            self.log.warning("%s", notice)
        everybody = {submission.student for submission in submissions} | {one.student for one in self.outcomes}
        report_failures(self.log, assignment.name, self.outcomes, len(everybody))

    # ---------------------------------------------------------------- before the first is graded

    def _begin(self, assignment: Assignment) -> Basis:
        """What marks depend on. Raises `CourseError` if nobody can be graded; an instructor's notices come first."""
        basis = Basis.of(self.coursedir, assignment)
        check_penalty_plugin(self)
        self.notices += [*no_due_date(self), *points_that_differ(self.coursedir, assignment)]
        if not self.scheduler and (unsafe := what_is_unsafe(self._sandbox(), assignment.root)):
            self.log.warning("%s", unsafe)
        return basis

    def _sandbox(self) -> str:
        return str(self.config.Mark.get("sandbox", "auto"))

    def _workers_for(self, count: int) -> contextlib.AbstractContextManager[WorkerPool]:
        """Workers for this many submissions. They end with this run, unless the caller opened them."""
        if self.workers is not None:
            return contextlib.nullcontext(self.workers)
        return contextlib.closing(self.open_workers(count, still_marking(self.log.info)))

    def open_workers(self, count: int, on_wait: OnWait) -> WorkerPool:
        """Workers for this many submissions."""
        root = Path(self.coursedir.root)
        return open_pool(root, count, self.jobs, self._sandbox(), self.scheduler, on_wait, self.idle)

    def _read_all(self, assignment: Assignment) -> list[Submission]:
        """The submissions of the assignment that can be read. The others become failed outcomes."""
        root, found = Path(self.coursedir.root), list[Submission]()
        wanted, submitted = self.coursedir.student_id, self.coursedir.submitted_directory
        for folder in map(Path, folders_of(self.coursedir, submitted, wanted, assignment.name, True)):
            student = folder.parent.name
            if not self.only or student in self.only:
                with self._costs_only(student):
                    found.append(_read(student, root / folder, assignment))
        for student, reason in closed_folders(root / submitted):  # in which nothing is found
            if wanted in ("*", student):
                self._fail(student, reason)
        if not found and not self.outcomes:
            super().init_notebooks()  # raises an error that says what it looked for, and what there is
        return found

    @contextlib.contextmanager
    def _costs_only(self, student: str) -> Iterator[None]:
        """An error inside costs this student's mark and no other's.

        A broken course ends the run: the next submission would fail as well.
        """
        try:
            yield
        except CourseError:
            raise
        except Exception as error:
            self._fail(student, reason_of(error, self.log))

    # ---------------------------------------------------------------- which are to be marked

    def _to_mark(self, submissions: Sequence[Submission], graded: Graded) -> list[Submission]:
        """The submissions that are neither graded nor held back; what becomes of the others is reported."""
        late, found = students_late(self.coursedir, graded.assignment.name), []
        excluded = self.coursedir.student_id_exclude.split(",")
        for submission in submissions:
            student = submission.student
            with self._costs_only(student):
                if student in excluded:
                    continue
                if not self.force and graded.is_graded(submission):
                    self._leave(submission, graded.assignment, is_late=student in late)
                elif not self.accept_changes and (place := graded.file_before(submission)):
                    self._report(self._held_back(submission, place))
                else:
                    found.append(submission)
        return found

    def _leave(self, submission: Submission, assignment: Assignment, is_late: bool) -> None:
        """Report that a submission is graded already. What it loses for being late may have changed."""
        student, name = submission.student, assignment.name
        source = self._format_source(name, student)
        self.log.info("Skipping %s: nothing has changed since it was graded", source)
        if is_late:
            self.notices += follow_timestamp(self.coursedir, name, student)
            assign_penalty(self, student, assignment)
            history.record(self.coursedir, name, student, history.LATE)
        self.on_graded(SubmissionOutcome(student, name, unchanged=True))

    def _held_back(self, submission: Submission, before: Path) -> SubmissionOutcome:
        """The outcome if another file would count now. before: the place of the one that was graded last time"""
        folder = submission.folder or submission.path.parent
        places = before, submission.path.relative_to(folder), folder.relative_to(self.coursedir.root)
        then, now, there = (printable(str(place)) for place in places)
        other_file = (
            f"{then} was graded last time, and {now} would be now, though no file has changed. Remove the one that "
            f"should not count from {there}, and grade again"
        )
        return SubmissionOutcome(submission.student, submission.assignment, held=True, other_file=other_file)

    # ---------------------------------------------------------------- one student

    def _enter(self, submission: Submission, marked: Marked, graded: Graded, basis: Basis) -> None:
        """Write one student's marks, unless nobody is graded or the marks are held back."""
        student, name = submission.student, submission.assignment
        if marked.refused:  # the marks and files of an earlier run stay
            self._fail(student, marked.report.reason or "", refused=True)
            return
        moved = moves(graded.marks.get(student, {}), marked.report) if graded.is_same_work(submission) else ()
        if moved and not self.accept_changes:
            self._report(SubmissionOutcome(student, name, moves=moved, held=True))
            return
        content = read_bytes(submission.path, MAX_BYTES, "")
        if stamp_with(submission, content) != submission.stamp:
            raise SubmissionError(f"{submission.path.name} changed while it was graded; grade again")
        notebook = notebook_of(content, submission.path.name).with_kinds(graded.assignment.source.kinds)
        context = context_of(submission, notebook, marked, graded, basis, self.notices, self.moved_pictures)
        for notice in marked.report.notices:
            context.notice(notice)
        reason, target = self.reason or graded.reason(submission), graded.notebook(student)
        try:
            self.notices += follow_timestamp(self.coursedir, name, student)
            remove_tree(target.parent)
            target.parent.mkdir(parents=True)  # before the gradebook gets marks
            self._convert(context, notebook, target)
            entry = history.new_entry(self.coursedir, name, student, reason, context.made, self.note)
            store, python = Store(Path(self.coursedir.root)), dict(submission.python.files)
            store.keep(context.made, content, python, context.report, digest_of(target), entry)
        except BaseException:
            with contextlib.suppress(OSError):  # the first error says why
                remove_tree(target.parent)
            raise
        self._report(SubmissionOutcome(student, name, moves=moved))

    def _convert(self, context: GradingContext, notebook: NotebookFile, target: Path) -> None:
        """nbgrader's own steps, which put marks into the gradebook, and the graded notebook at `target`."""
        student, name = context.submission.student, context.assignment.name
        # The name that nbgrader looks for; the file that was handed in may have another (see `discovery`).
        self.notebooks = [os.path.join(self._format_source(name, student), target.name)]

        def convert(path: str) -> None:
            resources = self.init_single_notebook_resources(path) | {KEY: context}
            resources["metadata"] = {"name": resources["unique_key"], "path": str(target.parent)}
            text = nbformat.writes(self._preprocessed(notebook, context.report.notices, resources))
            target.write_text(text + "\n", encoding="utf-8")

        convert_student(self, name, student, convert)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """nbgrader's own. It gives 0 for a notebook that has another name than the course's; this is undone here."""
        is_there = os.path.exists(self.notebooks[0])
        with contextlib.nullcontext() if is_there else marks_preserved(self.coursedir, assignment_id, student_id):
            super().init_assignment(assignment_id, student_id)

    def _preprocessed(self, file: NotebookFile, notices: Sequence[str], resources: dict[str, Any]) -> Any:
        """A notebook after nbgrader's two lists of preprocessors, without writing and reading it between them.

        nbconvert copies it three times before the first, and validates it after each; here that is done once for a
        list. The submission is read as the command line reads it, so that both grade the same cells.
        """
        notebook = nbformat.validator.normalize(nbformat.from_dict(file.as_nbformat()))[1]
        with setenv(NBGRADER_EXECUTION="autograde"):
            for kinds in (self.sanitize_preprocessors, self.autograde_preprocessors):
                self.exporter._preprocessors = []
                for kind in kinds:
                    self.exporter.register_preprocessor(kind)
                for preprocessor in self.exporter._preprocessors:
                    notebook, resources = preprocessor(notebook, resources)
                nbformat.validate(notebook, relax_add_props=True)
        shorten_code(notebook.cells)
        notebook.cells[:0] = [nbformat.v4.new_markdown_cell(f"*{as_plain(notice)}.*") for notice in notices]
        return notebook

    def _fail(self, student: str, reason: str, refused: bool = False) -> None:
        """Report that a submission could not be graded.

        refused: nobody is graded, so the log gives the reason once at the end
        """
        name = self.coursedir.assignment_id
        outcome = SubmissionOutcome(student, name, one_line(reason))
        if not refused:
            self.log.error("%s, %s cannot be graded: %s", shown_name(student), name, outcome.reason)
        if self.create_student:
            enter_student(self.coursedir, student)
        self._report(outcome)

    def _report(self, outcome: SubmissionOutcome) -> None:
        self.outcomes.append(outcome)
        self.on_graded(outcome)


def _without_pictures(report: Report) -> Report:
    exercises = tuple(structs.replace(exercise, picture=None) for exercise in report.exercises)
    return structs.replace(report, exercises=exercises)


def _read(student: str, folder: Path, assignment: Assignment) -> Submission:
    """One submission. Raises `SubmissionError` if it cannot be graded."""
    submission = submission_in(student, folder, assignment)
    if submission.problem:
        raise SubmissionError(submission.problem)
    read_notebook(submission.path)
    handed_in_at(folder)
    return submission
