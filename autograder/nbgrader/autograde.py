"""nbgrader's Autograde, careful with untrusted files.

nbgrader's own opens a pipe and waits, follows a link and copies what it leads to, and answers a broken notebook with a
traceback. There is no setting for any of that, so this class takes its place. How files are read and copied is in
`files`.
"""

from __future__ import annotations

import contextlib
import glob
import os
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde as NbGraderAutograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import setenv
from traitlets import Bool, Integer, List, Unicode, default

from autograder.course import course_at
from autograder.discovery import closed_folders, of_assignment
from autograder.errors import AutograderError, CourseError, SubmissionError, UnfitMachine, in_words
from autograder.nbgrader import gradebook_backup, history
from autograder.nbgrader.ahead import Ahead
from autograder.nbgrader.course_changes import (
    CELLS,
    GRADED,
    SUBMISSION,
    Move,
    cell_digests,
    kept_with,
    marks_now,
    moves,
    settled_kept,
    suite_digest,
    unchanged_cells,
)
from autograder.nbgrader.database import tables_looked_for_once
from autograder.nbgrader.files import MAX_TIMESTAMP, TIMESTAMP, Exporter, PlainFiles, remove_tree
from autograder.nbgrader.gradebook_rows import (
    assign_penalty,
    know_student,
    look_at_penalty,
    marks_kept,
    points_that_differ,
    students_late,
)
from autograder.nbgrader.one_run import in_nbgraders_words, only_one_run
from autograder.nbgrader.outcomes import SubmissionOutcome, say_what_is_left
from autograder.nbgrader.preprocessor import Mark, exercises_with_points
from autograder.nbgrader.resources import KEY, CourseCell, Given
from autograder.nbgrader.restore import course_cells
from autograder.reading import read_bytes
from autograder.report import Report
from autograder.sandbox.supervisor.fork_server import what_is_unsafe
from autograder.submission import ModelFile, Submission, model_beside, read_notebook, stamp
from autograder.text import one_line, shown_name
from autograder.worker.pool import WorkerPool, open_pool, worker_count
from autograder.worker.task import Task, as_task

NEW_SUBMISSION, COURSE_CHANGED = "another submission", "the course has changed"  # why marks are others, in the history


class Autograde(NbGraderAutograde, PlainFiles):
    """nbgrader's own steps for each submission, of which as many as there are cores are marked at a time.

    Every submission is read first. If one cannot be graded, it is named, and the rest goes on. What was graded before
    is left alone, unless it or the course has changed since.
    """

    jobs = Integer(0, min=0, help="Workers side by side; 0: one a core from 60 submissions on.").tag(config=True)
    scheduler = Unicode("", help="Address of a Dask scheduler whose workers mark, in place of processes here.").tag(
        config=True
    )
    accept_changes = Bool(
        False, help="Write marks that a change of the course has moved; `autograder regrade --undo` takes them back."
    ).tag(config=True)
    only = List(Unicode(), help="Grade these students; all if there is none.")
    saved = Bool(False, help="Whoever runs this has saved what there was before.")
    reason = Unicode("", help="Why it is graded, for the history, if it is not only that there is something new.")
    note = Unicode("", help="Goes into the history with the reason.")
    workers: WorkerPool | None = None  # those of a run over several assignments; else each run hires its own
    on_graded: Callable[[SubmissionOutcome], None] = staticmethod(lambda outcome: None)
    model: ModelFile | None = None  # what came beside the notebook that is being graded

    @default("exporter_class")
    def _exporter_class_default(self) -> type:
        return Exporter

    def start(self) -> None:
        """Grade. Raises `NbGraderException` if not all could be graded, or another run is under way."""
        with in_nbgraders_words(self.log), only_one_run(Path(self.coursedir.root)), tables_looked_for_once():
            super().start()

    def init_notebooks(self) -> None:
        """Find the submissions of the assignment, and what cannot be graded among them."""
        course = course_at(Path(self.coursedir.root))
        self.notebooks: list[str] = []
        self.assignments: dict[str, list[str]] = {}
        self.submissions: dict[Path, Submission] = {}
        self.outcomes: list[SubmissionOutcome] = []
        self.course_assignment = course.assignment(self.coursedir.assignment_id)
        self.cells = self._cells()
        self.points = {name: cell.points for name, cell in self.cells.items() if cell.grade}
        look_at_penalty(self)
        self.notices = list(points_that_differ(self.coursedir, self.course_assignment))
        unsafe = what_is_unsafe(self._kind(), course.root)
        for notice in [*self.notices, *([unsafe] if unsafe else [])]:
            self.log.warning("%s", notice)
        self.version = self.course_assignment.version() + repr(self.points)
        self.locked = self.course_assignment.locked_cells
        self.suite = suite_digest(self.course_assignment, self.points)
        self.graded_by = cell_digests(self.course_assignment, {n: c.points or 0.0 for n, c in self.cells.items()})
        pattern = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        for folder in sorted(glob.glob(pattern, include_hidden=True)):
            if not self.only or Path(folder).parent.name in self.only:
                self._read(folder)
        if self.coursedir.student_id == "*":  # a glob passes over what it cannot look into
            for student, reason in closed_folders(Path(self.coursedir.root, self.coursedir.submitted_directory)):
                self._end(student, reason)
        if not self.assignments and not self.outcomes:
            super().init_notebooks()  # says what it looked for and what there is

    def _read(self, folder: str) -> None:
        """Read one submission: among those to grade, or among the failed."""
        place = Path(self.coursedir.root, folder)
        (submission,) = of_assignment(place.parent.name, place, self.course_assignment)
        try:
            if submission.problem:
                raise SubmissionError(submission.problem)
            read_notebook(submission.path)
            self._look_at_timestamp(place)
        except SubmissionError as error:
            self._end(place.parent.name, str(error))
        else:
            # By the name that nbgrader looks for; what was handed in may have another (see `notebook_in`).
            self.assignments[folder] = [os.path.join(folder, self.course_assignment.notebook.name)]
            self.submissions[Path(folder)] = submission

    def _look_at_timestamp(self, place: Path) -> None:
        """Check a file that nbgrader will read as it is, again and again. Raises `SubmissionError` if it is no good."""
        path = place / TIMESTAMP
        if os.path.lexists(path):
            read_bytes(path, MAX_TIMESTAMP, "It holds the time of handing in.")
            try:
                self.coursedir.get_existing_timestamp(str(place))
            except Exception:
                raise SubmissionError(f"{TIMESTAMP} holds no date and time; correct it or take it away") from None

    def convert_notebooks(self) -> None:
        """Grade what is left to grade, one student after another. Say at the end how many could not be graded."""
        self.late = students_late(self.coursedir, self.course_assignment.name)
        self.marks = marks_now(self.coursedir, self.course_assignment.name)
        todo = [folder for folder in self.assignments if not self._is_done(folder)]
        workers = self.workers or self.hire(len(todo))
        self.ahead = Ahead(workers, map(self._as_task, todo))
        try:
            self.ahead.look()  # a course that is not in order is told before anything is taken away
            known = [] if self.saved or not self.accept_changes else list(filter(self._was_graded, todo))
            with gradebook_backup.undoable(self, known, lambda: any(outcome.moves for outcome in self.outcomes)):
                for folder in todo:
                    self._grade(folder)
        finally:
            if self.workers is None:
                workers.close()
        say_what_is_left(self.log, self.course_assignment.name, self.outcomes, len(self.assignments))

    def handed_in(self, notebook: str) -> Path:
        """Where the notebook that nbgrader knows by this name was handed in."""
        return self.submissions[Path(notebook).parent].path

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """nbgrader's own. It gives 0 for a notebook that has another name than the course's; here that is undone."""
        submission = self._submission(self._format_source(assignment_id, student_id))
        renamed = submission.path.name != self.course_assignment.notebook.name
        with marks_kept(self.coursedir, assignment_id, student_id) if renamed else contextlib.nullcontext():
            super().init_assignment(assignment_id, student_id)

    def hire(self, count: int) -> WorkerPool:
        """Workers for so many submissions."""
        jobs = worker_count(self.jobs, count)
        return open_pool(Path(self.coursedir.root), jobs, self._kind(), self.scheduler, Mark.idle)

    def _kind(self) -> str:
        """Of the sandbox."""
        return str(self.config.Mark.get("sandbox", "auto"))

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        """nbgrader's own, and what our preprocessors need for this notebook."""
        resources = dict(super().init_single_notebook_resources(notebook_filename))
        own = Given(
            self.course_assignment, self.kept, self.model, self.ahead.take, self.cells, self._notice, self._keep
        )
        return resources | {KEY: own}

    def _keep(self, report: Report) -> None:
        """Keep what was handed in and the report on it, for the history."""
        submission = self._submission(str(Path(self.notebooks[0]).parent))
        history.keep(Path(self.coursedir.root), submission, self.digests, report)

    def _notice(self, sentence: str) -> None:
        """What somebody should read on the submission that is being graded."""
        student = Path(self.notebooks[0]).parent.parent.name
        self.notices.append(f"{shown_name(student)}, {self.course_assignment.name}: {sentence}")

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """nbgrader's own two lists of preprocessors, with nothing written and read again between them."""
        resources = self.init_single_notebook_resources(notebook_filename)
        target = Path(self._format_dest(resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]))
        resources["metadata"] = {"name": resources["unique_key"], "path": str(target)}
        self._init_preprocessors()
        notebook, _ = self.exporter.preprocessed(self.exporter.read(notebook_filename), resources)
        self._sanitizing = False
        try:
            self._init_preprocessors()
            with setenv(NBGRADER_EXECUTION="autograde"):
                notebook, resources = self.exporter.preprocessed(notebook, resources)
        finally:
            self._sanitizing = True
        target.mkdir(parents=True, exist_ok=True)
        (target / Path(notebook_filename).name).write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")

    def _grade(self, folder: str) -> None:
        """nbgrader's steps for one student; whatever goes wrong costs this student's mark and no other's."""
        student, assignment = Path(folder).parent.name, Path(folder).name
        self.notebooks, self.kept = self.assignments[folder], self._to_keep(folder)
        self.model = model_beside(self._submission(folder))
        self.digests = {"suite": self.suite, "submission": str(self.kept[SUBMISSION])}
        target, same = Path(self._format_dest(assignment, student)), set[str]()
        moved: tuple[Move, ...] = ()
        if before := self._was_graded(folder):
            moved = moves(self.marks.get(student, {}), self.ahead.result_of(student))
            same = unchanged_cells(before.get(CELLS), self.graded_by)
        if moved and not self.accept_changes:
            self._end(student, moved=moved, held=True)
            return
        try:
            remove_tree(target)
            self.run_pre_convert_hook()
            with settled_kept(self.coursedir, assignment, student, same):
                self.init_assignment(assignment, student)
                for notebook in self.notebooks:
                    self.convert_single_notebook(notebook)
            self.set_permissions(assignment, student)
            self.run_post_convert_hook()
            why = self.reason or (COURSE_CHANGED if before else NEW_SUBMISSION)
            history.record(self.coursedir, assignment, student, why, self.digests, self.note)
        except (CourseError, UnfitMachine):  # nobody's fault who handed in, and the next would fare no better
            remove_tree(target)
            raise
        except (AutograderError, NbGraderException) as error:
            remove_tree(target)
            self._end(student, str(error))
        except Exception as error:
            remove_tree(target)
            words = in_words(error)
            if words is None:
                self.log.error(traceback.format_exc())
            self._end(student, words or f"nbgrader stumbled ({type(error).__name__}: {error})")
        except BaseException:
            remove_tree(target)
            raise
        else:
            self._end(student, moved=moved)

    def _end(self, student: str, reason: str | None = None, moved: tuple[Move, ...] = (), held: bool = False) -> None:
        name = self.course_assignment.name
        outcome = SubmissionOutcome(student, name, reason and one_line(reason), moves=moved, held=held)
        self.outcomes.append(outcome)
        if outcome.reason:
            self.log.error("%s, %s cannot be graded: %s", shown_name(student), outcome.assignment, outcome.reason)
            if self.create_student:
                know_student(self.coursedir, student)
        self.on_graded(outcome)

    def _is_done(self, folder: str) -> bool:
        """Was exactly this graded before, to the end? Or is the student left out on purpose?"""
        student = Path(folder).parent.name
        if student in self.coursedir.student_id_exclude.split(","):
            return True
        done = not self.force and self._kept(folder).get(GRADED) == self._to_keep(folder)[GRADED]
        if done:
            self.log.info("Skipping %s: nothing has changed since it was graded", folder)
            if student in self.late:
                assign_penalty(self, student, self.course_assignment)
                history.record(self.coursedir, self.course_assignment.name, student, "late", {})
            self.on_graded(SubmissionOutcome(student, self.course_assignment.name, unchanged=True))
        return done

    def _to_keep(self, folder: str) -> dict[str, object]:
        """What is kept with the marks: words that change with the submission, with it and the course, and by cell."""
        submission, timestamp = self._submission(folder), str(self.coursedir.get_existing_timestamp(folder))
        return {
            GRADED: stamp(submission, self.version, timestamp),
            SUBMISSION: stamp(submission),
            CELLS: self.graded_by,
        }

    def _kept(self, folder: str) -> dict[str, Any]:
        student, assignment = Path(folder).parent.name, Path(folder).name
        return kept_with(Path(self._format_dest(assignment, student), Path(self.assignments[folder][0]).name))

    def _was_graded(self, folder: str) -> dict[str, Any]:
        """What is kept with the marks of this very submission; empty if it was not graded, or another one was."""
        kept, student = self._kept(folder), Path(folder).parent.name
        if not kept and student in self.marks:  # somebody has removed autograded/, or a run could not grade it
            known = history.entries(Path(self.coursedir.root), student, self.course_assignment.name)
            kept = {SUBMISSION: known[-1].submission} if known else {}
        return kept if kept.get(SUBMISSION) == stamp(self._submission(folder)) else {}

    def _submission(self, folder: str) -> Submission:
        return self.submissions[Path(folder)]

    def _as_task(self, folder: str) -> Task:
        """What `Mark` will ask for when it is this student's turn."""
        task = as_task(self._submission(folder), self.course_assignment.version(), self.locked)
        return replace(task, exercises=exercises_with_points(self.points, self.course_assignment), for_page=True)

    def _cells(self) -> dict[str, CourseCell]:
        """The gradebook's cells by grade_id; raises `NbGraderException` if the assignment was not released."""
        name = self.course_assignment.name
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            try:
                notebook = gradebook.find_notebook(self.course_assignment.notebook.stem, name)
            except MissingEntry:
                raise NbGraderException(
                    f"{name} is not in the gradebook; run: nbgrader generate_assignment {name}"
                ) from None
            return course_cells(notebook)


def take_autogrades_place() -> None:
    """From now on nbgrader's command and formgrader's button use the class above."""
    nbgrader.apps.api.Autograde = nbgrader.apps.autogradeapp.Autograde = Autograde
