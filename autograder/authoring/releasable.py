"""Whether nbgrader can release a notebook, and names for its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from autograder.authoring.problems import Problem
from autograder.course.assignments import TWICE, Assignment
from autograder.submission import grade_id

# nbgrader's markers, with the key of the cells that may have them, and what its panel calls such a cell.
PAIRS = {
    "SOLUTION": ("solution", "an answer"),
    "HIDDEN TESTS": ("grade", "tests"),
    "MARK SCHEME": ("task", "a task"),
}
SCHEMA = 3  # of nbgrader's metadata


def named_cells(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Each cell with its grade_id, or else its first line and the heading above it: JupyterLab shows no numbers."""
    heading = ""
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()] or ["(an empty cell)"]
        headings = [line for line in lines if cell.cell_type == "markdown" and line.startswith("#")]
        above, heading = heading, headings[-1] if headings else heading
        is_heading = lines[0] in headings or not above
        yield grade_id(cell) or (lines[0] if is_heading else f"{lines[0]}, below {above}"), cell


def can_be_released(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """What nbgrader fails at when it releases: metadata of an older version, an id of two cells, markers without a
    counterpart or in a cell of another kind.
    """
    settings = [cell.metadata["nbgrader"] for cell in source.cells if "nbgrader" in cell.metadata]
    if any(one.get("schema_version", 0) < SCHEMA for one in settings):
        remedy = f"Run `nbgrader update {assignment.notebook.parent}`."
        yield Problem(assignment.notebook, "", "its nbgrader metadata are of an older version", remedy)
    names = Counter(grade_id(cell) for cell in source.cells if grade_id(cell))
    for name, count in names.items():
        if count > 1:
            what, _, remedy = TWICE.format(count=count).partition(". ")
            yield Problem(assignment.notebook, name, what, f"{remedy}.")
    for name, cell in named_cells(source):
        own = cell.metadata.get("nbgrader", {})
        for kind, (key, called) in PAIRS.items():
            marks = re.findall(rf"### (BEGIN|END) {kind}\b", cell.source)
            if marks != ["BEGIN", "END"] * (len(marks) // 2):
                what = f"### BEGIN {kind} and ### END {kind} do not come in pairs"
                yield Problem(assignment.notebook, name, what, "Write the missing one.")
            elif marks and not own.get(key):
                what = f"it has ### BEGIN {kind}, and nbgrader does not know it as {called}"
                remedy = "Say what the cell is in the Create Assignment panel, or remove the markers."
                yield Problem(assignment.notebook, name, what, remedy)
