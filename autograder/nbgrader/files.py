"""A submission's files on their way through nbgrader: how its notebook is read, and what is copied beside it."""

from __future__ import annotations

import fnmatch
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import rmtree

from autograder.submission import read_notebook

MAX_EXTRA = 100 * 2**20  # bytes of a file beside the notebook that is copied along


class Exporter(NotebookExporter):
    """Reads submissions as the command line does, so that both grade the same cells."""

    def read(self, filename: str) -> Any:
        """The notebook that nbgrader knows by this name; raises `SubmissionError` if it is none."""
        notebook = nbformat.from_dict(read_notebook(self.parent.handed_in(filename)))
        return nbformat.validator.normalize(notebook)[1]

    def preprocessed(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """A notebook after all preprocessors, changed in place and checked once at the end.

        nbconvert's own copies it three times before the first, and checks it after each.
        """
        for preprocessor in self._preprocessors:
            notebook, resources = preprocessor(notebook, resources)
        nbformat.validate(notebook, relax_add_props=True)
        return notebook, resources


class PlainFiles(BaseConverter):
    """Copies what lies beside a notebook, if it is a file and nothing else."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copy files of a submission to where its notebook will go."""
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        for path in _plain_files(source):
            if not any(fnmatch.fnmatch(path.name, pattern) for pattern in [*self.coursedir.ignore, "*.ipynb"]):
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                shutil.copy(path, copy, follow_symlinks=False)


def _plain_files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(Path(place, name))
            if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_EXTRA:
                yield Path(place, name)


def remove_tree(folder: Path) -> None:
    """Remove a folder with read-only files in it, if it is there."""
    if folder.exists():
        rmtree(str(folder))
