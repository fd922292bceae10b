"""Whether nbgrader can release a notebook, and names for its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from autograder.authoring.findings import Finding
from autograder.course.assignments import TWICE, Assignment
from autograder.submission import grade_id

PAIRS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")  # nbgrader's markers


def named_cells(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Each cell with its grade_id, or else its first line and the heading above it: JupyterLab shows no numbers."""
    heading = ""
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()] or ["(an empty cell)"]
        headings = [line for line in lines if cell.cell_type == "markdown" and line.startswith("#")]
        above, heading = heading, headings[-1] if headings else heading
        is_heading = lines[0] in headings or not above
        yield grade_id(cell) or (lines[0] if is_heading else f"{lines[0]}, below {above}"), cell


def can_be_released(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """What nbgrader fails at when it releases: an id of two cells, a marker without its counterpart."""
    names = Counter(grade_id(cell) for cell in source.cells if grade_id(cell))
    for name, count in names.items():
        if count > 1:
            what, _, remedy = TWICE.format(count=count).partition(". ")
            yield Finding(assignment.notebook, name, what, f"{remedy}.")
    for name, cell in named_cells(source):
        for kind in PAIRS:
            marks = re.findall(rf"### (BEGIN|END) {kind}\b", cell.source)
            if marks != ["BEGIN", "END"] * (len(marks) // 2):
                what = f"### BEGIN {kind} and ### END {kind} do not come in pairs"
                yield Finding(assignment.notebook, name, what, "Write the missing one.")
