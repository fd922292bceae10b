"""Two of nbgrader's own steps, with the same outcome from fewer looks: at the gradebook, and at nbgrader's schema."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from jsonschema.validators import validator_for
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.api import BaseCell, Comment, Grade, Gradebook
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import CheckCellMetadata, NbGraderPreprocessor, SaveAutoGrades


class SaveMarks(SaveAutoGrades):
    """`SaveAutoGrades` that looks up a notebook's rows at once and writes them in one transaction.

    nbgrader's own has a query with seven tables, and a transaction, for each cell.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Write the marks of one notebook into the gradebook. Raises `MissingEntry` if it has no row for a cell."""
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = (
            names[key] for key in ("notebook", "assignment", "student")
        )
        with Gradebook(names["db_url"]) as book:
            self.gradebook = _Rows(book, self.notebook_id, self.assignment_id, self.student_id)
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            book.db.commit()
        return nb, resources


class _Rows:
    """One notebook's grades and comments by cell, in the place of the gradebook that nbgrader asks for each."""

    def __init__(self, book: Gradebook, *names: str) -> None:
        notebook = book.find_submission_notebook(*names).id
        self._book = book
        self._grades, self._comments = (
            {
                name: row
                for row, name in book.db.query(kind, BaseCell.name)
                .join(BaseCell, BaseCell.id == kind.cell_id)
                .filter(kind.notebook_id == notebook)
            }
            for kind in (Grade, Comment)
        )
        self.db = SimpleNamespace(commit=lambda: None)  # all together, when the last cell is done

    def find_grade(self, cell: str, *names: str) -> Any:
        return self._grades.get(cell) or self._book.find_grade(cell, *names)

    def find_comment(self, cell: str, *names: str) -> Any:
        return self._comments.get(cell) or self._book.find_comment(cell, *names)


class CheckMetadata(CheckCellMetadata):
    """`CheckCellMetadata` that does not check nbgrader's schema itself anew for each cell."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Check one notebook; nbgrader's own says what is wrong with it."""
        version, validator = _validator()
        found = [cell.metadata["nbgrader"] for cell in nb.cells if "nbgrader" in cell.metadata]
        if not all(one.get("schema_version", 0) == version and validator.is_valid(one) for one in found):
            super().preprocess(nb, resources)
        return nb, resources


@cache
def _validator() -> tuple[int, Any]:
    """The version of nbgrader's schema, and what checks by it."""
    nbgraders = MetadataValidator()
    return int(nbgraders.schema_version), validator_for(nbgraders.schema)(nbgraders.schema)
