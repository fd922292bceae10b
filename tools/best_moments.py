"""Make a picture of each notebook's best moment for the student's guide: `python -m tools.best_moments [a8 a9 ...]`.

The solved notebook runs in a kernel up to a cell in `CELLS`, whose output is the picture. For a6 this trains a model,
which takes a minute.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder.course.assignments import Assignment, Course
from autograder.course.source_notebook import CHECK_PREFIX
from autograder.submission import grade_id
from tests.conftest import ROOT

CELLS = {
    "a1": "see-it-code",
    "a2": "see-it-code-2",
    "a3": "see-it-code",
    "a4": "single-head-picture",
    "a5": "decoderblock-influence",
    "a6": "train-loop-code",
    "a7": "see-it-code",
    "a8": "attention-in-cache-picture",
    "a9": "composition",
}


def picture(assignment: Assignment, cell: str) -> bytes:
    """The first picture in a cell's output in the solved notebook, as PNG. Raises `ValueError` if there is none."""
    notebook = nbformat.read(assignment.notebook, as_version=4)
    place = next(i for i, one in enumerate(notebook.cells) if one["id"] == cell)
    notebook.cells = [one for one in notebook.cells[: place + 1] if not grade_id(one).startswith(CHECK_PREFIX)]
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": folder}}).execute()
    for output in notebook.cells[-1].outputs:
        if "image/png" in output.get("data", {}):
            return base64.b64decode(output.data["image/png"])
    raise ValueError(f"{assignment.notebook.name}: the cell {cell!r} shows no picture")


def main(names: list[str]) -> None:
    """Write the pictures of these assignments, or of all."""
    course = Course(ROOT)
    for name in course.assignments:
        short = name.partition("_")[0]
        if short in CELLS and (not names or short in names):
            path = ROOT / "docs" / f"best-{short}.png"
            path.write_bytes(picture(course.assignment(name), CELLS[short]))
            print(f"{path.relative_to(ROOT)}: {Path(path).stat().st_size / 2**10:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
