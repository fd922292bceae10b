"""What becomes of a notebook that is released: help and points, for the gradebook and in the exchange."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.exchange.default import ExchangeReleaseAssignment
from nbgrader.preprocessors import NbGraderPreprocessor, SaveCells

from autograder.course.assignments import course_at
from autograder.course.content import settings_now
from autograder.course.source_notebook import exercise_name, remembered
from autograder.errors import CourseError
from autograder.nbgrader.due import shown
from autograder.nbgrader.gradebook_rows import due_date, graded_points

POINTS = "points of autograder"  # the key of nbgrader's `resources` with the course's points by grade_id
HELP = "help of autograder"  # the key with what help the course allows
DUE_FILE = "DUE.txt"  # beside a released notebook in the exchange
_resources_of = GenerateAssignment.init_single_notebook_resources
_start = GenerateAssignment.start


def generate(self: Any) -> None:
    """nbgrader's own, and the texts that it replaces are remembered: students keep the notebook they have."""
    coursedir = self.coursedir
    folder = Path(coursedir.format_path(coursedir.release_directory, ".", coursedir.assignment_id))
    with remembered(Path(coursedir.root), sorted(folder.glob("*.ipynb"))):
        _start(self)


def resources_of_release(self: Any, notebook_filename: str) -> dict[str, Any]:
    """nbgrader's own for a notebook that is released, and the course's for `SavePoints` and `ShowHelp`."""
    resources: dict[str, Any] = _resources_of(self, notebook_filename)
    resources[HELP] = settings_now(Path(self.coursedir.root)).help
    with contextlib.suppress(CourseError):  # `dev sync` releases a copy, which is no course and has no marks
        assignment = course_at(Path(self.coursedir.root)).assignment(resources["nbgrader"]["assignment"])
        resources[POINTS] = assignment.graded_cells
    return resources


class SavePoints(SaveCells):
    """`SaveCells` that leaves the points of what was graded: marks have to be regraded with them.

    An exercise that is out of the total has no points.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Save one notebook's cells in the gradebook."""
        self._points, names = resources.get(POINTS, {}), resources["nbgrader"]
        with Gradebook(names["db_url"]) as book:
            self._graded = graded_points(book, names["assignment"])
        nb, resources = super().preprocess(nb, resources)
        return nb, resources

    def _create_grade_cell(self, cell: NotebookNode) -> None:
        super()._create_grade_cell(cell)
        name = cell.metadata.nbgrader["grade_id"]
        wanted = self._points.get(name, self.new_grade_cells[name]["max_score"])
        kept = self._graded.get(name, wanted)
        if kept != wanted:
            self.log.warning(
                "%s is worth %g in source/ and %g in the gradebook, which has marks; see `autograder regrade %s`",
                *(exercise_name(name), wanted, kept, self.assignment_id),
            )
        self.new_grade_cells[name]["max_score"] = kept


class ShowHelp(NbGraderPreprocessor):
    """Adds a cell with what help is allowed, below the title, if the course says it (`help` in its `course.toml`)."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Add the cell to a notebook that is released."""
        if text := resources.get(HELP, ""):
            fixed = {"editable": False, "deletable": False}
            cell = new_markdown_cell(
                f"**What help is allowed.** {text.strip()}", id="what-help-is-allowed", metadata=fixed
            )
            if nb.nbformat_minor < 5:
                del cell["id"]
            nb.cells.insert(len([one for one in nb.cells[:1] if one.cell_type == "markdown"]), cell)
        return nb, resources


class ReleaseAssignment(ExchangeReleaseAssignment):
    """nbgrader's own, and a file beside the notebook that says when it is due."""

    def copy_files(self) -> None:
        """Release the assignment."""
        super().copy_files()
        due = due_date(self.coursedir, self.coursedir.assignment_id)
        if due is not None:
            path = Path(self.dest_path, DUE_FILE)
            path.write_text(f"{self.coursedir.assignment_id} is due {shown(due)}.\n", encoding="utf-8")
            path.chmod(0o644)
