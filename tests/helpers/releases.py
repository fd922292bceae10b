"""Released notebooks, empty or with answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring.sample_class import fill
from autograder.course.assignments import Assignment


def released(assignment: Assignment) -> Path:
    """The released notebook in the assignment's course."""
    return assignment.root / "assignments" / assignment.name / assignment.notebook.name


def filled(assignment: Assignment, answers: Mapping[str, str]) -> Any:
    """The released notebook with these answers."""
    return fill(released(assignment), answers)
