"""Reads the accepted submissions in `tests/course/accepted/`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tests.helpers.in_process import ASSIGNMENTS

ACCEPTED = Path(__file__).parents[1] / "course" / "accepted"


def accepted_submissions(assignment):
    """`(style, code)` of each function or class that is marked `@accepted(style)` in the assignment's file."""
    path = ACCEPTED / f"{assignment.name}.py"
    if not path.is_file():
        return []
    spec = importlib.util.spec_from_file_location(f"accepted_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.accepted)


CASES = [(a, w) for a in ASSIGNMENTS for w in accepted_submissions(a)]
