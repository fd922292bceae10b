"""nbgrader's Autograde, made safe for untrusted files.

nbgrader's own waits when it opens a pipe, follows a link and copies its target, and answers a broken notebook with a
traceback. No setting changes that, so this class replaces it. `hardening.files` copies what lies beside a notebook.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock, Timeout
from msgspec import structs
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde as NbGraderAutograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import setenv
from traitlets import Bool, Integer, List, Unicode

from autograder.course.assignments import course_at
from autograder.discovery import closed_folders, submission_in
from autograder.errors import EXPECTED, CourseError, SubmissionError, in_words
from autograder.nbgrader import gradebook_backup, history
from autograder.nbgrader.gradebook_rows import (
    answers_waiting,
    course_cells,
    enter_student,
    marks_preserved,
    points_of,
    points_that_differ,
    task_with_points,
)
from autograder.nbgrader.hardening.files import PlainFiles, convert_student, digest_of, folders_of, remove_tree
from autograder.nbgrader.hardening.restore import as_plain, shorten_code
from autograder.nbgrader.hardening.timestamps import follow_timestamp, handed_in_at
from autograder.nbgrader.outcomes import (
    Move,
    SubmissionOutcome,
    answers_in,
    cell_digests,
    moves,
    reason_of,
    report_failures,
    suite_digest,
    unchanged_cells,
)
from autograder.nbgrader.preprocessor import KEY, GradingContext, Mark
from autograder.nbgrader.totals import assign_penalty, check_penalty_plugin, no_due_date, students_late
from autograder.reading import read_bytes
from autograder.report import Report
from autograder.reports.shared_answers import shared_answers
from autograder.reports.store import FILE, MadeOf, Store
from autograder.submission import MAX_BYTES, Submission, read_notebook
from autograder.task import Marked, Task
from autograder.text import one_line, printable, shown_name
from autograder.worker.pool import WorkerPool, open_pool, still_marking, what_is_unsafe, worker_count

OTHER_FILE = (
    "{} was graded last time, and {} would be now, though no file has changed. Remove the one that should not count "
    "from {}, and grade again"
)
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
    on_graded: Callable[[SubmissionOutcome], None] = staticmethod(lambda outcome: None)

    def start(self) -> None:
        """Grade. Raises `NbGraderException` if not all could be graded, or another run is under way."""
        with only_one_run(Path(self.coursedir.root), self.log):
            super().start()

    def init_notebooks(self) -> None:
        """Find the submissions of the assignment. Those that cannot be graded become failed outcomes."""
        root = Path(self.coursedir.root)
        course = course_at(root)
        self.notebooks: list[str] = []
        self.submissions: dict[str, Submission] = {}  # that can be read, by student
        self.outcomes: list[SubmissionOutcome] = []
        self.course_assignment = course.assignment(self.coursedir.assignment_id)
        self.version = self.course_assignment.version
        try:
            self.cells = course_cells(self.coursedir, self.course_assignment)
        except MissingEntry:
            name = self.course_assignment.name
            raise CourseError(f"{name} is not in the gradebook; run: nbgrader generate_assignment {name}") from None
        self.points = points_of(self.cells)
        check_penalty_plugin(self)
        self.notices = [*no_due_date(self), *points_that_differ(self.coursedir, self.course_assignment)]
        if not self.scheduler and (unsafe := what_is_unsafe(self._sandbox(), course.root)):
            self.log.warning("%s", unsafe)
        self.moved_pictures = dict[str, int]()
        self.reports = list[Report]()
        self.suite = suite_digest(self.version, self.points)
        self.graded_by = cell_digests(self.course_assignment, self.points)
        wanted, submitted = self.coursedir.student_id, self.coursedir.submitted_directory
        for folder in map(Path, folders_of(self.coursedir, submitted, wanted, self.course_assignment.name, True)):
            if not self.only or folder.parent.name in self.only:
                with self._costs_only(folder.parent.name):
                    self._read(root / folder)
        for student, reason in closed_folders(root / submitted):  # in which nothing is found
            if wanted in ("*", student):
                self._end(student, reason)
        if not self.submissions and not self.outcomes:
            super().init_notebooks()  # raises an error that says what it looked for, and what there is

    def _read(self, folder: Path) -> None:
        """Read one submission. Raises `SubmissionError` if it cannot be graded."""
        student = folder.parent.name
        submission = submission_in(student, folder, self.course_assignment)
        if submission.problem:
            raise SubmissionError(submission.problem)
        read_notebook(submission.path)
        handed_in_at(folder)
        self.submissions[student] = submission

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
            self._end(student, reason_of(error, self.log))

    def convert_notebooks(self) -> None:
        """Grade one student after another. Raises `NotAll` at the end if some could not be graded."""
        name = self.course_assignment.name
        self.late = students_late(self.coursedir, name)
        self.graded = history.Graded(self.coursedir, self.course_assignment)
        self.marks = self.graded.marks
        todo = []
        for submission in self.submissions.values():
            with self._costs_only(submission.student):
                if not self._is_done(submission) and not self._is_another_file(submission):
                    todo.append(submission)
        workers = self.workers or self.open_workers(len(todo))
        try:
            results = workers.mark(map(self._as_task, todo))
            graded = [] if self.saved or not self.accept_changes else [s.student for s in todo if self._is_same_work(s)]
            with gradebook_backup.undoable(self, graded, lambda: any(outcome.moves for outcome in self.outcomes)):
                for submission, (task, marked) in zip(todo, results, strict=True):
                    with self._costs_only(submission.student):
                        self._grade(submission, task, marked)
        finally:
            if self.workers is None:
                workers.close()
        self.notices += self._summary()
        for notice in self.notices:
            self.log.warning("%s", notice)
        everybody = self.submissions.keys() | {outcome.student for outcome in self.outcomes}
        report_failures(self.log, name, self.outcomes, len(everybody))

    def open_workers(self, count: int) -> WorkerPool:
        """Workers for this many submissions."""
        jobs = worker_count(self.jobs, count)
        workers = open_pool(Path(self.coursedir.root), jobs, self._sandbox(), self.scheduler, Mark.idle)
        workers.on_wait = still_marking(self.log.info)
        return workers

    def _sandbox(self) -> str:
        return str(self.config.Mark.get("sandbox", "auto"))

    def _grade(self, submission: Submission, task: Task, marked: Marked) -> None:
        """nbgrader's steps for one student."""
        student, assignment = submission.student, submission.assignment
        if marked.refused:  # the marks and files of an earlier run stay
            self._end(student, marked.report.reason, refused=True)
            return
        exercises = tuple(structs.replace(exercise, picture=None) for exercise in marked.report.exercises)
        self.reports.append(structs.replace(marked.report, exercises=exercises))
        target = self._target(student)
        moved = moves(self.marks.get(student, {}), marked.report) if self._is_same_work(submission) else ()
        if moved and not self.accept_changes:
            self._end(student, moved=moved, held=True)
            return
        self.context = context = self._context(submission, task, marked)
        # The name that nbgrader looks for; the file that was handed in may have another (see `with_files`).
        source = self._format_source(assignment, student)
        self.notebooks = [os.path.join(source, self.course_assignment.notebook.name)]
        reason = self._reason(submission)
        try:
            self.notices += follow_timestamp(self.coursedir, assignment, student)
            remove_tree(target)
            target.mkdir(parents=True)  # before the gradebook gets marks
            convert_student(self, assignment, student)
            content, digest = read_bytes(submission.path, MAX_BYTES, ""), digest_of(self._beside(student))
            entry = history.new_entry(self.coursedir, assignment, student, reason, context.made, self.note)
            store, python = Store(Path(self.coursedir.root)), dict(submission.python.files)
            store.keep(context.made, content, python, context.marked.report, digest, entry)
        except BaseException:
            with contextlib.suppress(OSError):  # the first error says why
                remove_tree(target)
            raise
        self._end(student, moved=moved)

    def _reason(self, submission: Submission) -> str:
        """Why a submission has marks now, for the history."""
        student = submission.student
        reasons = list(history.changes(self.graded.made(student), self._made(submission), submission))
        if not reasons and not self.graded.is_entered(student):
            reasons = [history.ENTERED_AGAIN]
        if student in self.marks and student not in self.graded.entries:
            reasons = [history.UNKNOWN]
        return self.reason or ", ".join(reasons) or history.AGAIN

    def _context(self, submission: Submission, task: Task, marked: Marked) -> GradingContext:
        """What the preprocessors need."""
        student, made = submission.student, self._made(submission)
        before, is_entered = self.graded.made(student), self.graded.is_entered(student)
        same = student in self.marks and before.work == made.work
        same_cells = unchanged_cells(before.cells, self.graded_by)
        is_lost = student not in self.graded.entries
        answers = [name for name, cell in self.cells.items() if cell.is_answer and (name in same_cells or is_lost)]
        who = f"{shown_name(student)}, {submission.assignment}"
        self.notices += [f"{who}: {notice}" for notice in marked.report.notices]
        return GradingContext(
            assignment=self.course_assignment,
            submission=submission,
            cells=self.cells,
            task=task,
            marked=marked,
            made=made,
            unchanged=same_cells if same else set(),
            left_empty=self._left_empty(student, same_cells) if same and before.files == made.files else (),
            set_aside=before.set_aside if is_entered else {},
            earlier=answers_in(self._beside(student), answers) if not same and (is_entered or is_lost) else {},
            notices=self.notices,
            moved_pictures=self.moved_pictures,
        )

    def _summary(self) -> Iterator[str]:
        """What a person has to know or do after the run."""
        name = self.course_assignment.name
        if self.moved_pictures:
            who = ", ".join(f"{shown_name(student)} {count}" for student, count in sorted(self.moved_pictures.items()))
            yield f"{name}: pictures were moved out of the texts of: {who}. They are shown in their places"
        unknown = [self.marks[student].values() for student in self.marks.keys() - self.graded.entries.keys()]
        if count := sum(any(mark.auto is not None for mark in marks) for marks in unknown):
            subject = f"{count} student{'s' * (count > 1)}"
            yield f"{name}: {FILE} did not know the marks of {subject}; those that are still the same are in it again"
        yield from map(str, shared_answers(self.reports))
        if waiting := answers_waiting(self.coursedir, name):
            yield f"{name}: {waiting} {'answers wait' if waiting > 1 else 'answer waits'} for a person to grade"

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """nbgrader's own. It gives 0 for a notebook that has another name than the course's; this is undone here."""
        renamed = self.context.submission.path != Path(self.coursedir.root, self.notebooks[0])
        with marks_preserved(self.coursedir, assignment_id, student_id) if renamed else contextlib.nullcontext():
            super().init_assignment(assignment_id, student_id)

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        """nbgrader's own, and what our preprocessors need for this notebook."""
        return dict(super().init_single_notebook_resources(notebook_filename)) | {KEY: self.context}

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """nbgrader's two lists of preprocessors, without writing and reading the notebook between them.

        The submission is read as the command line reads it, so that both grade the same cells.
        """
        resources = self.init_single_notebook_resources(notebook_filename)
        target = self._target(self.context.submission.student)
        resources["metadata"] = {"name": resources["unique_key"], "path": str(target)}
        file = read_notebook(self.context.submission.path).with_kinds(self.course_assignment.source.kinds)
        notebook = nbformat.from_dict(file.as_nbformat())
        notebook = self._preprocessed(nbformat.validator.normalize(notebook)[1], resources)
        self._sanitizing = False
        try:
            with setenv(NBGRADER_EXECUTION="autograde"):
                notebook = self._preprocessed(notebook, resources)
        finally:
            self._sanitizing = True
        shorten_code(notebook.cells)
        notices = self.context.marked.report.notices
        notebook.cells[:0] = [nbformat.v4.new_markdown_cell(f"*{as_plain(notice)}.*") for notice in notices]
        target.mkdir(parents=True, exist_ok=True)
        (target / Path(notebook_filename).name).write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")

    def _preprocessed(self, notebook: Any, resources: Any) -> Any:
        """The notebook after all preprocessors of the present list, changed in place and validated once at the end.

        nbconvert copies it three times before the first, and validates it after each.
        """
        self._init_preprocessors()
        for preprocessor in self.exporter._preprocessors:
            notebook, resources = preprocessor(notebook, resources)
        nbformat.validate(notebook, relax_add_props=True)
        return notebook

    def _end(
        self,
        student: str,
        reason: str | None = None,
        moved: tuple[Move, ...] = (),
        held: bool = False,
        refused: bool = False,
        other_file: str = "",
    ) -> None:
        """Report a submission's outcome. refused: nobody is graded, so the log gives the reason once at the end"""
        name = self.course_assignment.name
        outcome = SubmissionOutcome(
            student, name, reason and one_line(reason), moves=moved, held=held, other_file=other_file
        )
        self.outcomes.append(outcome)
        if outcome.reason:
            if not refused:
                self.log.error("%s, %s cannot be graded: %s", shown_name(student), name, outcome.reason)
            if self.create_student:
                enter_student(self.coursedir, student)
        self.on_graded(outcome)

    def _is_done(self, submission: Submission) -> bool:
        """True if the submission is graded, or the student is excluded on purpose."""
        student, name = submission.student, submission.assignment
        if student in self.coursedir.student_id_exclude.split(","):
            return True
        done = not self.force and self.graded.is_graded(submission, self.suite)
        if done:
            source = self._format_source(name, student)
            self.log.info("Skipping %s: nothing has changed since it was graded", source)
            if student in self.late:
                self.notices += follow_timestamp(self.coursedir, name, student)
                assign_penalty(self, student, self.course_assignment)
                history.record(self.coursedir, name, student, history.LATE)
            self.on_graded(SubmissionOutcome(student, name, unchanged=True))
        return done

    def _is_another_file(self, submission: Submission) -> bool:
        """True, and reported, if another file would be graded than last time although the student changed none.

        The course decides by its releases in which file there is work, so a change of the course can move that.
        """
        made, folder = self.graded.made(submission.student), submission.folder
        if self.accept_changes or folder is None or submission.student not in self.marks:
            return False
        if history.OTHER_FILE not in history.changes(made, self._made(submission), submission):
            return False
        before = next(file.place for file in submission.beside if file.stamp == made.work)
        places = [before, submission.path.relative_to(folder), folder.relative_to(self.coursedir.root)]
        other_file = OTHER_FILE.format(*(printable(str(place)) for place in places))
        self._end(submission.student, held=True, other_file=other_file)
        return True

    def _left_empty(self, student: str, names: Iterable[str]) -> set[str]:
        """The written questions among `names` that were graded as not answered."""
        marks = self.marks[student]
        return {name for name in names if name in marks and self.cells[name].is_answer and marks[name].auto == 0}

    def _made(self, submission: Submission) -> MadeOf:
        """What the marks of a submission would be made of."""
        return history.made_of(self.coursedir, submission, self.suite, self.graded_by)

    def _is_same_work(self, submission: Submission) -> bool:
        """Whether this very submission has marks, as far as the history knows of them."""
        student = submission.student
        is_known = student in self.graded.entries
        return student in self.marks and (not is_known or self.graded.made(student).work == submission.stamp)

    def _target(self, student: str) -> Path:
        """The student's folder in `autograded/`."""
        return Path(self._format_dest(self.course_assignment.name, student))

    def _beside(self, student: str) -> Path:
        """The student's autograded notebook, which stores the parts of its marks."""
        return self._target(student) / self.course_assignment.notebook.name

    def _as_task(self, submission: Submission) -> Task:
        return replace(task_with_points(submission, self.course_assignment, self.version, self.points), for_page=True)
