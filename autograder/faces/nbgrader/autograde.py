"""nbgrader's Autograde, careful with strangers' files.

nbgrader opens a pipe and waits, follows a link and copies what it leads to, and answers a broken notebook with a
traceback. It has no setting for any of that, so this class takes the place of its own.
"""

from __future__ import annotations

import fnmatch
import functools
import glob
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader.api
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde as NbGraderAutograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from traitlets import default

from autograder.course import Course, find_course
from autograder.errors import AutograderError, SubmissionError
from autograder.submission import Submission, of_assignment, parse_notebook, read_notebook

MAX_EXTRA = 100 * 2**20  # bytes of a file beside the notebook that is copied along


class Exporter(NotebookExporter):
    """Reads what was submitted as the command line does, so that both grade the same cells."""

    optimistic_validation = True  # checked once at the end, not after every step

    def from_file(self, file_stream: Any, resources: Any = None, **kw: Any) -> Any:
        """Convert an open notebook; raises `SubmissionError` where it is none."""
        if not self.parent._sanitizing:  # the second step reads what the first has written
            return super().from_file(file_stream, resources=resources, **kw)
        notebook = parse_notebook(file_stream.read().removeprefix("\ufeff"), resources["metadata"]["name"] + ".ipynb")
        return self.from_notebook_node(notebook, resources=resources, **kw)


class _PlainFiles(BaseConverter):
    """Copies what lies beside a notebook, if it is a file and nothing else."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files of a submission to where its notebook will go."""
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        for path in _plain_files(source):
            if not any(fnmatch.fnmatch(path.name, pattern) for pattern in [*self.coursedir.ignore, "*.ipynb"]):
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                shutil.copy(path, copy, follow_symlinks=False)


def _plain_files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(Path(place, name))
            if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_EXTRA:
                yield Path(place, name)


class Autograde(NbGraderAutograde, _PlainFiles):
    """nbgrader's own, with every submission read first: one that cannot be graded is named, and the rest goes on."""

    @default("exporter_class")
    def _exporter_class_default(self) -> type:
        return Exporter

    def init_notebooks(self) -> None:
        """Find the submissions of the assignment, and what cannot be graded among them."""
        try:
            course = find_course(Path(self.coursedir.root))
            known = self.coursedir.assignment_id in course.assignments()
        except AutograderError as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None
        if not known:
            super().init_notebooks()
            return
        self.notebooks: list[str] = []
        self.assignments: dict[str, list[str]] = {}
        self.failed: list[Submission] = []
        pattern = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        for folder in sorted(glob.glob(pattern, include_hidden=True)):
            self._read(folder, course)
        if not self.assignments and not self.failed:
            super().init_notebooks()  # says what it looked for and what there is

    def _read(self, folder: str, course: Course) -> None:
        """Read one submission: among those to grade, or among the failed."""
        place = Path(self.coursedir.root, folder)
        assignment = course.assignment(self.coursedir.assignment_id)
        for submission in of_assignment(place.parent.name, place, assignment):
            try:
                _check(submission)
            except SubmissionError as error:
                self.failed.append(submission)
                self.log.error("%s, %s cannot be graded: %s", submission.student, submission.assignment, error)
            else:
                self.assignments[folder] = [os.path.join(folder, submission.path.name)]

    def convert_notebooks(self) -> None:
        """Grade what can be graded, then say how many could not."""
        super().convert_notebooks()
        if getattr(self, "failed", []):
            text = f"{len(self.failed)} of {len(self.failed) + len(self.assignments)} submissions could not be graded"
            self.log.error("%s; the reasons stand above", text)
            raise NbGraderException(text)


def _check(submission: Submission) -> None:
    if submission.problem:
        raise SubmissionError(submission.problem)
    read_notebook(submission.path)


def take_autogrades_place() -> None:
    """From now on nbgrader's command and formgrader's button use the class above.

    And a database's engine is made once: nbgrader makes a dozen a submission, each of which compiles every statement
    anew, which is half of its time.
    """
    nbgrader.apps.api.Autograde = nbgrader.apps.autogradeapp.Autograde = Autograde
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.lru_cache(nbgrader.api.create_engine)
