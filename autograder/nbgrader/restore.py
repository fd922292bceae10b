"""A submitted notebook's cells, given back what makes them the course's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.resources import CourseCell, given
from autograder.nbgrader.sanitise import sanitise
from autograder.submission import grade_id, is_plain_check


class RestoreCells(NbGraderPreprocessor):
    """Take the metadata of graded cells from the gradebook, never from the submission, and bring missing cells back.

    What a student wrote beside code can be read in a browser afterwards, and does nothing there.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        wanted = given(resources).cells
        sanitise(nb, given(resources).assignment.markdown())
        seen: set[str] = set()
        nb.cells = [restored for cell in nb.cells for restored in _restored(cell, wanted, seen)]
        for name, cell in wanted.items():
            if name not in seen and cell.grade:
                self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
                nb.cells.append(_new_cell(cell))
        return nb, resources


def _restored(cell: NotebookNode, wanted: Mapping[str, CourseCell], seen: set[str]) -> list[NotebookNode]:
    """The cell with the course's metadata. If a check cell was overwritten, what was written comes before it."""
    name = grade_id(cell)
    cell.metadata.pop("nbgrader", None)
    own = wanted.get(name)
    if own is None or name in seen or cell.cell_type != own.cell_type:
        return [cell]
    seen.add(name)
    if own.locked and cell.cell_type == "code" and not is_plain_check(cell.source):
        return [cell, _new_cell(own)]
    cell.metadata["nbgrader"] = own.metadata()
    if own.locked:  # else nbgrader warns of each check cell, whose hidden lines students lack
        cell.source = own.source
    return [cell]


def course_cells(notebook: Any) -> dict[str, CourseCell]:
    """The cells nbgrader knows of a released notebook, by grade_id."""
    points = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
    grades, solutions, tasks = (
        {cell.name for cell in cells} for cells in (notebook.grade_cells, notebook.solution_cells, notebook.task_cells)
    )
    return {
        one.name: CourseCell(
            grade_id=one.name,
            cell_type=one.cell_type,
            grade=one.name in grades,
            solution=one.name in solutions,
            task=one.name in tasks,
            locked=one.locked,
            checksum=one.checksum,
            points=points.get(one.name),
            source=one.source,
        )
        for one in notebook.source_cells
    }


def _new_cell(cell: CourseCell) -> NotebookNode:
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(source=cell.source, metadata={"nbgrader": cell.metadata()})
