"""Which of a submission's files nbgrader copies: plain files beside the notebook, and its own two files."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from nbgrader.converters.base import BaseConverter
from nbgrader.utils import rmtree

from autograder.errors import SubmissionError
from autograder.nbgrader.plain_copy import copy_plain_files
from autograder.reading import read_bytes
from autograder.text import printable, shown_name

MAX_EXTRA = 100 * 2**20  # bytes of a file beside the notebook that is copied along
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # nbgrader's own, beside a submission
MAX_TIMESTAMP = 2**20  # bytes; a time has 30, a secret 128


class PlainFiles(BaseConverter):
    """Copies what lies beside a notebook if it is a plain file. `notices` names what was not copied."""

    notices: list[str]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files of a submission to where its notebook will go."""
        ignored = [*self.coursedir.ignore, "*.ipynb"]
        source, target = (Path(place(assignment_id, student_id)) for place in (self._format_source, self._format_dest))
        skipped = copy_plain_files(
            source, target, MAX_EXTRA, lambda place, _: not any(fnmatch.fnmatch(place.name, one) for one in ignored)
        )
        for sentence in skipped:
            self.notices.append(
                f"{shown_name(student_id)}, {assignment_id}: {printable(sentence)}, so it was not copied"
            )
            self.log.warning("%s", self.notices[-1])


def keep_for_release(self: BaseConverter, assignment_id: str, student_id: str) -> None:
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


def remove_tree(folder: Path) -> None:
    """Remove a folder with read-only files in it, if it is there."""
    if folder.exists():
        rmtree(str(folder))
