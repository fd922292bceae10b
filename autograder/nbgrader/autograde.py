"""nbgrader's Autograde, careful with untrusted files.

nbgrader's own opens a pipe and waits, follows a link and copies what it leads to, and answers a broken notebook with a
traceback. There is no setting for any of that, so this class takes its place. How files are read and copied is in
`files`.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
from filelock import FileLock, Timeout
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde as NbGraderAutograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import setenv
from traitlets import Integer, Unicode, default

from autograder.course import course_at
from autograder.discovery import closed_folders, of_assignment
from autograder.errors import AutograderError, CourseError, SubmissionError, UnfitMachine, in_words
from autograder.nbgrader.database import tables_looked_for_once
from autograder.nbgrader.files import MAX_TIMESTAMP, TIMESTAMP, Exporter, PlainFiles, remove_tree
from autograder.nbgrader.gradebook_rows import (
    assign_penalty,
    know_student,
    marks_kept,
    points_that_differ,
    students_late,
)
from autograder.nbgrader.preprocessor import STAMP, Mark, exercises_with_points
from autograder.nbgrader.resources import KEY, CourseCell, Given
from autograder.nbgrader.restore import course_cells
from autograder.reading import read_bytes
from autograder.sandbox.supervisor.fork_server import what_is_unsafe
from autograder.secret import make_secret
from autograder.submission import ModelFile, Submission, model_beside, read_notebook, stamp
from autograder.text import one_line, shown_name
from autograder.worker.pool import WorkerPool, open_pool, worker_count
from autograder.worker.task import Marked, Task, as_task

LOCK = ".autograder.lock"


class Autograde(NbGraderAutograde, PlainFiles):
    """nbgrader's own steps for each submission, of which as many as there are cores are marked at a time.

    Every submission is read first. If one cannot be graded, it is named, and the rest goes on. What was graded before
    is left alone, unless it or the course has changed since.
    """

    jobs = Integer(0, min=0, help="Workers side by side; 0: one a core from 60 submissions on.").tag(config=True)
    scheduler = Unicode("", help="Address of a Dask scheduler whose workers mark, in place of processes here.").tag(
        config=True
    )
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
        self.notices = list(points_that_differ(self.coursedir, self.course_assignment))
        unsafe = what_is_unsafe(self._kind(), course.root)
        for notice in [*self.notices, *([unsafe] if unsafe else [])]:
            self.log.warning("%s", notice)
        self.version = self.course_assignment.version() + repr(self.points)
        pattern = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        for folder in sorted(glob.glob(pattern, include_hidden=True)):
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
        todo = [folder for folder in self.assignments if not self._is_done(folder)]
        workers = self.workers or self.hire(len(todo))
        self.ahead = Ahead(workers, map(self._as_task, todo))
        try:
            self.ahead.look()  # a course that is not in order is told before anything is taken away
            for folder in todo:
                self._grade(folder)
        finally:
            if self.workers is None:
                workers.close()
        failed = [outcome for outcome in self.outcomes if outcome.reason]
        if failed:
            text = f"{len(failed)} of {len(failed) + len(self.assignments)} submissions could not be graded"
            # Again, since above they stand among a class's other lines.
            reasons = [f"  {shown_name(one.student)}: {one.reason}" for one in failed]
            self.log.error("%s:\n%s", text, "\n".join(reasons))
            raise NotAll(text)

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
        return resources | {KEY: Given(self.course_assignment, self.stamp, self.model, self.ahead.take, self.cells)}

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
        self.notebooks, self.stamp = self.assignments[folder], self._stamp(folder)
        self.model = model_beside(self._submission(folder))
        target = Path(self._format_dest(assignment, student))
        try:
            remove_tree(target)
            self.run_pre_convert_hook()
            self.init_assignment(assignment, student)
            for notebook in self.notebooks:
                self.convert_single_notebook(notebook)
            self.set_permissions(assignment, student)
            self.run_post_convert_hook()
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
            self._end(student)

    def _end(self, student: str, reason: str | None = None) -> None:
        outcome = SubmissionOutcome(student, self.course_assignment.name, reason and one_line(reason))
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
        notebook = Path(self._format_dest(Path(folder).name, student), Path(self.assignments[folder][0]).name)
        done = not self.force and _stamp_of(notebook) == self._stamp(folder)
        if done:
            self.log.info("Skipping %s: nothing has changed since it was graded", folder)
            if student in self.late:
                assign_penalty(self, student, self.course_assignment)
            self.on_graded(SubmissionOutcome(student, self.course_assignment.name, unchanged=True))
        return done

    def _stamp(self, folder: str) -> str:
        """A word that changes with the submission and with the course."""
        return stamp(self._submission(folder), self.version, str(self.coursedir.get_existing_timestamp(folder)))

    def _submission(self, folder: str) -> Submission:
        return self.submissions[Path(folder)]

    def _as_task(self, folder: str) -> Task:
        """What `Mark` will ask for when it is this student's turn."""
        task = as_task(self._submission(folder), self.course_assignment.version())
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


@dataclass(frozen=True)
class SubmissionOutcome:
    """What became of one submission: `reason` is why it could not be graded, `no_feedback` why it has no page.

    `unchanged` is set if it was graded before, and not again.
    """

    student: str
    assignment: str
    reason: str | None = None
    no_feedback: str | None = None
    unchanged: bool = False


class NotAll(NbGraderException):
    """All that could be graded was; the rest stands in the outcomes."""


class Ahead:
    """Results of a whole class, marked by workers while nbgrader writes down those before."""

    def __init__(self, workers: WorkerPool, tasks: Iterable[Task]) -> None:
        self._results = workers.mark(tasks)

    def look(self) -> None:
        """Wait for the first result. Raises `CourseError` if the course is not in order."""
        first = list(itertools.islice(self._results, 1))
        self._results = itertools.chain(first, self._results)

    def take(self, task: Task) -> Marked | None:
        """The result of a task; None if the workers were given another, and it has to be done here."""
        for given, marked in self._results:
            if given.student == task.student:
                return marked if given == task or marked.report.reason else None
        return None


def _stamp_of(notebook: Path) -> str | None:
    """The stamp in an autograded notebook; None if it is not there or was not finished."""
    try:
        return str(json.loads(notebook.read_text(encoding="utf-8"))["metadata"]["autograder"][STAMP])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextlib.contextmanager
def in_nbgraders_words(log: Any) -> Iterator[None]:
    """Turn an error of ours into one of nbgrader's, so that its command says one sentence and ends with 1."""
    try:
        yield
    except Exception as error:
        words = str(error) if isinstance(error, AutograderError) else in_words(error)
        if words is None:
            raise
        log.error("%s", words)
        raise NbGraderException(words) from None


@contextlib.contextmanager
def only_one_run(root: Path) -> Iterator[None]:
    """Hold the course for this run; the system frees it with its owner. Raises `CourseError` if another has it."""
    try:
        with FileLock(root / LOCK, blocking=False):
            make_secret(root)
            yield
    except Timeout:
        raise CourseError(f"another run is grading {root}; wait for it to end, then run this again") from None


def take_autogrades_place() -> None:
    """From now on nbgrader's command and formgrader's button use the class above."""
    nbgrader.apps.api.Autograde = nbgrader.apps.autogradeapp.Autograde = Autograde
