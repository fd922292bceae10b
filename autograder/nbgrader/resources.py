"""What our `Autograde` gives its preprocessors for one notebook, in nbgrader's own place for that: `resources`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.course import Assignment
from autograder.report import Report
from autograder.submission import ModelFile
from autograder.worker.task import Marked, Task

KEY = "autograder"


@dataclass(frozen=True)
class CourseCell:
    """A cell as the gradebook has it. `points` is None if it is not graded, `source` is what the course wrote."""

    grade_id: str
    cell_type: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    checksum: str
    points: float | None
    source: str

    @property
    def is_answer(self) -> bool:
        """Is it a written answer, which a person grades?"""
        return self.grade and self.solution and self.cell_type == "markdown"

    def metadata(self) -> dict[str, object]:
        """As nbgrader keeps it in a notebook."""
        left = {"source"} if self.points is not None else {"source", "points"}
        return {name: value for name, value in vars(self).items() if name not in left} | {"schema_version": 3}


@dataclass(frozen=True)
class Given:
    """One notebook's assignment, as the course has it, and what goes with the notebook.

    kept: told in the autograded notebook: what was graded, and by what
    model: the saved model beside the notebook, if there is one
    ahead: the result, if it was marked ahead with the rest of the class
    cells: the course's own, by grade_id
    tell: takes a sentence on this submission that somebody should read
    keep: takes the report, for the history
    """

    assignment: Assignment
    kept: Mapping[str, object]
    model: ModelFile | None
    ahead: Callable[[Task], Marked | None]
    cells: Mapping[str, CourseCell]
    tell: Callable[[str], None]
    keep: Callable[[Report], None]


def given(resources: Mapping[str, Any]) -> Given:
    """What was given for the notebook that is being converted."""
    found = resources[KEY]
    assert isinstance(found, Given), "nbgrader_config.py calls autograder.nbgrader.configure"
    return found
