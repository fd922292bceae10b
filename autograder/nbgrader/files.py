"""A submission's files on their way through nbgrader: how its notebook is read, and what is copied beside it."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import rmtree

from autograder.errors import SubmissionError
from autograder.nbgrader.plain_copy import copy_plain_files
from autograder.reading import read_bytes
from autograder.submission import read_notebook
from autograder.text import printable, shown_name

MAX_EXTRA = 100 * 2**20  # bytes of a file beside the notebook that is copied along
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # nbgrader's own, beside a submission
MAX_TIMESTAMP = 2**20  # bytes; a time has 30, a secret 128


class Exporter(NotebookExporter):
    """Reads submissions as the command line does, so that both grade the same cells."""

    def read(self, filename: str) -> Any:
        """The notebook that nbgrader knows by this name; raises `SubmissionError` if it is none."""
        notebook = nbformat.from_dict(read_notebook(self.parent.handed_in(filename)).as_nbformat())
        return nbformat.validator.normalize(notebook)[1]

    def preprocessed(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """A notebook after all preprocessors, changed in place and checked once at the end.

        nbconvert's own copies it three times before the first, and checks it after each.
        """
        for preprocessor in self._preprocessors:
            notebook, resources = preprocessor(notebook, resources)
        nbformat.validate(notebook, relax_add_props=True)
        return notebook, resources


class PlainFiles(BaseConverter):
    """Copies what lies beside a notebook, if it is a file and nothing else. `notices` names what was left."""

    notices: list[str]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files of a submission to where its notebook will go."""
        ignored = [*self.coursedir.ignore, "*.ipynb"]
        source, target = (Path(place(assignment_id, student_id)) for place in (self._format_source, self._format_dest))
        left = copy_plain_files(
            source, target, MAX_EXTRA, lambda place, _: not any(fnmatch.fnmatch(place.name, one) for one in ignored)
        )
        for sentence in left:
            self.notices.append(
                f"{shown_name(student_id)}, {assignment_id}: {printable(sentence)}, so it was not copied"
            )
            self.log.warning("%s", self.notices[-1])


def keep_for_release(self: BaseConverter, assignment_id: str, student_id: str) -> None:
    """What nbgrader needs to release a page: its own two files. Nothing else that is beside a notebook goes along.

    nbgrader copies all of it to the feedback folder, a student's HTML and a student's `nbgrader_config.py` too.
    """
    source, target = (Path(place(assignment_id, student_id)) for place in (self._format_source, self._format_dest))
    for name in (TIMESTAMP, SECRET):
        try:
            data = read_bytes(source / name, MAX_TIMESTAMP, "")
        except SubmissionError:
            continue  # not there, or no plain file
        target.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)


def make_feedback_of_pages_alone() -> None:
    """From now on nbgrader's feedback folder has pages, and no files of students."""
    GenerateFeedback.init_assignment = keep_for_release


def remove_tree(folder: Path) -> None:
    """Remove a folder with read-only files in it, if it is there."""
    if folder.exists():
        rmtree(str(folder))
