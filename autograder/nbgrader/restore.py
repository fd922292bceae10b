"""Restores what makes a submitted notebook's cells the course's: metadata, locked text, missing cells.

What is too long to show is cut. `pages` turns the rest into HTML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.gradebook_rows import CourseCell
from autograder.nbgrader.preprocessor import context_in
from autograder.submission import grade_id, is_plain_check
from autograder.text import shown_name

LOST = "*This answer's cell has lost the name that nbgrader gave it. In words of the student the notebook has:*"
NO_WORDS = "*The cell of this answer was not handed in, and the notebook has no words of the student.*"
# Markdown parsers take time that grows with the square of a run's length; nobody writes a longer one.
_LONG_RUN = re.compile(r"([^\w\s])\1{200,}")
MAX_MARKDOWN = 20_000  # characters of a cell that are shown, some ten pages
MAX_SHOWN = 100_000  # characters of all Markdown cells together
MAX_CODE, MAX_ALL_CODE = 100_000, 300_000  # characters of code that are kept for pages: of a cell, and of all together
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class RestoreCells(NbGraderPreprocessor):
    """Takes the metadata of graded cells from the gradebook, never from the submission, and adds missing cells.

    It also makes the student's text beside code safe to show in a browser.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore in place."""
        context = context_in(resources)
        course_texts = context.assignment.markdown()
        sanitise(nb, course_texts)
        submitted = {grade_id(cell): cell for cell in nb.cells}
        restored: set[str] = set()
        nb.cells = [new for cell in nb.cells for new in _restored(cell, context.cells, restored)]
        texts = [cell for cell in nb.cells if _is_students_text(cell, course_texts)]
        for name, cell in context.cells.items():
            if name in restored or not cell.grade or (cell.is_answer and _name_untouched(nb, cell)):
                continue
            self.log.warning("Cell '%s' is missing from the submission; it was put back at the end", name)
            if cell.is_answer:
                nb.cells.append(_answer(cell, [submitted[name]] if name in submitted else texts))
                context.notices.append(
                    f"{shown_name(context.submission.student)}, {context.assignment.name}: "
                    f"the answer to '{name}' had lost nbgrader's name for its cell; it waits for a person"
                )
            else:
                nb.cells.append(_new_cell(cell))
        return nb, resources


def _is_students_text(cell: NotebookNode, course_texts: Collection[str]) -> bool:
    """True for text that has no nbgrader name and is not the course's."""
    named = cell.cell_type == "code" or "nbgrader" in cell.metadata
    return not named and bool(cell.source.strip()) and cell.source not in course_texts


def _name_untouched(nb: NotebookNode, wanted: CourseCell) -> bool:
    """Give a cell that is as it was released, but has lost its name, the name back. True if there is one.

    Nobody has to read such an answer.
    """
    for cell in nb.cells:
        if cell.cell_type == wanted.cell_type and "nbgrader" not in cell.metadata and cell.source == wanted.source:
            cell.metadata["nbgrader"] = wanted.metadata()
            return True
    return False


def _answer(wanted: CourseCell, texts: Sequence[NotebookNode]) -> NotebookNode:
    """A cell with all texts that may be the answer. It differs from the release, so that a person has to read it."""
    cell = _new_cell(wanted)
    cell.source = "\n\n".join([LOST, *(text.source for text in texts)]) if texts else NO_WORDS
    if pictures := {name: data for text in texts for name, data in text.get("attachments", {}).items()}:
        cell.attachments = pictures
    return cell


def _restored(cell: NotebookNode, wanted: Mapping[str, CourseCell], restored: set[str]) -> list[NotebookNode]:
    """The cell with the course's metadata, and with the course's text if students may not change it.

    If a student overwrote a check cell, the student's text comes before the check cell.
    """
    name = grade_id(cell)
    cell.metadata.pop("nbgrader", None)
    course_cell = wanted.get(name)
    if course_cell is None or name in restored or cell.cell_type != course_cell.cell_type:
        return [cell]
    restored.add(name)
    locked, is_code = course_cell.locked, cell.cell_type == "code"
    if locked and is_code and is_plain_check(course_cell.source) and not is_plain_check(cell.source):
        return [cell, _new_cell(course_cell)]
    cell.metadata["nbgrader"] = course_cell.metadata()
    if locked:  # else nbgrader warns about each check cell, whose hidden lines students lack
        cell.source = course_cell.source
    return [cell]


def _new_cell(cell: CourseCell) -> NotebookNode:
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(source=cell.source, metadata={"nbgrader": cell.metadata()})


def sanitise(notebook: Any, trusted: Collection[str]) -> None:
    """Shorten a notebook's texts in place to what a page can show, and set its metadata.

    Nothing else has to be removed: of a submission only texts, names of cells and pasted pictures are read.
    trusted: sources of the course's own Markdown cells, which are not changed
    """
    notebook.metadata.update({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    left = MAX_SHOWN
    for cell in notebook.cells:
        if cell.cell_type != "code" and cell.source not in trusted:
            cell.source = shortened(cell.source, left)
            left = max(0, left - len(cell.source))


def shorten_code(cells: Iterable[Any]) -> None:
    """Shorten code in place to what a page can show, after it has run. What was handed in stays as it is."""
    left = MAX_ALL_CODE
    for cell in cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked"):
            most = min(left, MAX_CODE)
            left -= min(most, len(cell.source))
            if len(cell.source) > most:
                cell.source = f"{cell.source[:most]}\n# ... (the rest of this cell is not shown)"


def shortened(source: str, left: int = MAX_SHOWN) -> str:
    """At most `left` characters of Markdown, without the long runs that make parsers slow."""
    most = min(left, MAX_MARKDOWN)
    if len(source) > most:
        source = source[:most] + "\n\n... (the rest of this cell is not shown)"
    return _LONG_RUN.sub(lambda run: run[1] * 200, source)
