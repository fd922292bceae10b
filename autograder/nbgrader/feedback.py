"""nbgrader's GenerateFeedback, one student after another: what stops a page stops no other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from nbgrader.converters import GenerateFeedback as NbGraderGenerateFeedback
from nbgrader.converters.base import NbGraderException
from traitlets import List, Unicode

from autograder.course.assignments import course_at
from autograder.errors import CourseError, SubmissionError
from autograder.nbgrader.gradebook_rows import page_stamps
from autograder.nbgrader.hardening.files import (
    MAX_TIMESTAMP,
    SECRET,
    TIMESTAMP,
    convert_student,
    notebooks_in,
    remove_tree,
)
from autograder.nbgrader.outcomes import reason_of
from autograder.nbgrader.totals import assign_penalties, assign_penalty, students_late
from autograder.reading import read_bytes
from autograder.reports.store import PAGE, Store
from autograder.text import shown_name


class GenerateFeedback(NbGraderGenerateFeedback):
    """nbgrader's own steps for each student. `failed` says whose page could not be made, and why."""

    only = List(Unicode(), help="Make the pages of these students; all by default.")
    on_page: Callable[[str], None] = staticmethod(lambda student: None)

    def init_notebooks(self) -> None:
        """Find the students. Raises `NbGraderException` if nobody is graded."""
        self.failed = dict[str, str]()
        name = self.coursedir.assignment_id
        if self.only:
            self.folders = {student: self._format_source(name, student) for student in self.only}
        else:
            super().init_notebooks()
            self.folders = {Path(folder).parent.name: folder for folder in self.assignments}

    def convert_notebooks(self) -> None:
        """Make the pages. Raises `NbGraderException` at the end if one could not be made."""
        name, store = self.coursedir.assignment_id, Store(Path(self.coursedir.root))
        with contextlib.suppress(CourseError):  # the plugin fails; whose pages it hinders is said below
            assign_penalties(self, course_at(Path(self.coursedir.root)).assignment(name))
        shown, late = page_stamps(self.coursedir, name), students_late(self.coursedir, name)
        for student, folder in self.folders.items():
            try:
                self._make(name, student, folder, student in late)
                store.set_digest(name, student, PAGE, shown.get(student, ""))
            except Exception as error:
                with contextlib.suppress(OSError):  # no half of a page stays
                    remove_tree(self._format_dest(name, student))
                self.failed[student] = reason_of(error, self.log)
                self.log.error("%s, %s has no feedback page: %s", shown_name(student), name, self.failed[student])
            self.on_page(student)
        if self.failed:
            raise NbGraderException(f"{len(self.failed)} of {len(self.folders)} pages could not be made")

    def _make(self, assignment: str, student: str, folder: str, is_late: bool) -> None:
        self.notebooks = notebooks_in(folder, self.coursedir.notebook_id)
        if not self.notebooks:
            raise NbGraderException(f"{folder} holds no graded notebook; run nbgrader autograde {assignment}")
        if self.init_destination(assignment, student):
            if is_late:  # raises if the plugin hinders this page
                assign_penalty(self, student, course_at(Path(self.coursedir.root)).assignment(assignment))
            convert_student(self, assignment, student, self.convert_single_notebook)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy to the feedback folder what nbgrader needs to release a page: its own two files.

        nbgrader copies all files beside the notebook, also a student's HTML and a student's `nbgrader_config.py`.
        """
        source, target = (Path(place(assignment_id, student_id)) for place in (self._format_source, self._format_dest))
        for name in (TIMESTAMP, SECRET):
            try:
                data = read_bytes(source / name, MAX_TIMESTAMP, "")
            except SubmissionError:
                continue  # not there, or not a plain file
            target.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)
