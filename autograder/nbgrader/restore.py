"""A submitted notebook's cells, given back what makes them the course's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.given import given
from autograder.nbgrader.harmless import make_harmless
from autograder.submission import grade_id, is_plain_check


class RestoreCells(NbGraderPreprocessor):
    """Take the metadata of graded cells from the gradebook, never from the submission, and bring missing cells back.

    What a student wrote beside code can be read in a browser afterwards, and does nothing there.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        wanted = given(resources).cells
        make_harmless(nb, given(resources).assignment.markdown())
        seen: set[str] = set()
        nb.cells = [restored for cell in nb.cells for restored in _restored(cell, wanted, seen)]
        for name, cell in wanted.items():
            if name not in seen and cell["metadata"]["grade"]:
                self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
                nb.cells.append(_new_cell(cell))
        return nb, resources


def _restored(cell: NotebookNode, wanted: Mapping[str, dict[str, Any]], seen: set[str]) -> list[NotebookNode]:
    """The cell with the course's metadata. If a check cell was overwritten, what was written comes before it."""
    name = grade_id(cell)
    cell.metadata.pop("nbgrader", None)
    if name not in wanted or name in seen or cell.cell_type != wanted[name]["metadata"]["cell_type"]:
        return [cell]
    seen.add(name)
    if wanted[name]["metadata"]["locked"] and cell.cell_type == "code" and not is_plain_check(cell.source):
        return [cell, _new_cell(wanted[name])]
    cell.metadata["nbgrader"] = dict(wanted[name]["metadata"])
    if wanted[name]["metadata"]["locked"]:  # else nbgrader warns of each check cell, whose hidden lines students lack
        cell.source = wanted[name]["source"]
    return [cell]


def course_cells(notebook: Any) -> dict[str, dict[str, Any]]:
    """The cells nbgrader knows of a released notebook: metadata and source by grade_id."""
    points = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
    grades = {cell.name for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    cells = {}
    for source in notebook.source_cells:
        metadata = {
            "grade_id": source.name,
            "grade": source.name in grades,
            "solution": source.name in solutions,
            "task": source.name in tasks,
            "locked": source.locked,
            "checksum": source.checksum,
            "cell_type": source.cell_type,
            "schema_version": 3,
        }
        if source.name in points:
            metadata["points"] = points[source.name]
        cells[source.name] = {"metadata": metadata, "source": source.source}
    return cells


def _new_cell(cell: dict[str, Any]) -> NotebookNode:
    make = new_code_cell if cell["metadata"]["cell_type"] == "code" else new_markdown_cell
    return make(source=cell["source"], metadata={"nbgrader": dict(cell["metadata"])})
