"""The right ways of `tests/right_ways/`, read."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tests.in_process import ASSIGNMENTS

WAYS = Path(__file__).parent / "right_ways"


def ways(assignment):
    """`(style, code)` of each function or class in the assignment's file, written as `@way("einsum")`."""
    path = WAYS / f"{assignment.name}.py"
    if not path.is_file():
        return []
    spec = importlib.util.spec_from_file_location(f"right_ways_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.way)


CASES = [(a, w) for a in ASSIGNMENTS for w in ways(a)]
