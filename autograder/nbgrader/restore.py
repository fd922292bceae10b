"""A submitted notebook's cells, given back what makes them the course's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.resources import CourseCell, given
from autograder.nbgrader.sanitise import sanitise
from autograder.submission import grade_id, is_plain_check

LOST = "*This answer's cell has lost the name that nbgrader gave it. In words of the student the notebook has:*"
NO_WORDS = "*The cell of this answer was not handed in, and the notebook has no words of the student.*"


class RestoreCells(NbGraderPreprocessor):
    """Take the metadata of graded cells from the gradebook, never from the submission, and bring missing cells back.

    What a student wrote beside code can be read in a browser afterwards, and does nothing there.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        own = given(resources)
        sanitise(nb, own.assignment.markdown())
        disguised = {grade_id(cell): cell for cell in nb.cells}
        seen: set[str] = set()
        nb.cells = [restored for cell in nb.cells for restored in _restored(cell, own.cells, seen)]
        words = [cell for cell in nb.cells if _are_a_students(cell, own.assignment.markdown())]
        for name, cell in own.cells.items():
            if name in seen or not cell.grade or (cell.is_answer and _found_untouched(nb, cell)):
                continue
            self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
            if cell.is_answer:
                nb.cells.append(_answer(cell, [disguised[name]] if name in disguised else words))
                own.tell(f"the answer to '{name}' had lost nbgrader's name for its cell; it waits for a person")
            else:
                nb.cells.append(_new_cell(cell))
        return nb, resources


def _are_a_students(cell: NotebookNode, course: Collection[str]) -> bool:
    """Is it text without a name, and none of the course's?"""
    named = cell.cell_type == "code" or "nbgrader" in cell.metadata
    return not named and bool(cell.source.strip()) and cell.source not in course


def _found_untouched(nb: NotebookNode, own: CourseCell) -> bool:
    """Is the cell there as it was released, without its name? It gets that back, and nobody has to read it."""
    for cell in nb.cells:
        if cell.cell_type == own.cell_type and "nbgrader" not in cell.metadata and cell.source == own.source:
            cell.metadata["nbgrader"] = own.metadata()
            return True
    return False


def _answer(own: CourseCell, words: Sequence[NotebookNode]) -> NotebookNode:
    """A cell with all that may be the answer. It differs from what was released, so nbgrader lets a person read it."""
    cell = _new_cell(own)
    cell.source = "\n\n".join([LOST, *(one.source for one in words)]) if words else NO_WORDS
    if pictures := {name: data for one in words for name, data in one.get("attachments", {}).items()}:
        cell.attachments = pictures
    return cell


def _restored(cell: NotebookNode, wanted: Mapping[str, CourseCell], seen: set[str]) -> list[NotebookNode]:
    """The cell with the course's metadata, and its text if no student writes in it.

    If a check cell was overwritten, what was written comes before it.
    """
    name = grade_id(cell)
    cell.metadata.pop("nbgrader", None)
    own = wanted.get(name)
    if own is None or name in seen or cell.cell_type != own.cell_type:
        return [cell]
    seen.add(name)
    if own.locked and cell.cell_type == "code" and is_plain_check(own.source) and not is_plain_check(cell.source):
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
