"""Exercises on multi-head attention that grade themselves.

What a notebook uses: `check("softmax")` runs the visible checks of an exercise, `heatmap(weights)` draws weights.
Both load on first use, so that `import autograder` stays quick.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["check", "grading", "heatmap"]

# True only while a submission is graded: `if not grading:` keeps a long training out of it.
grading = False


def __getattr__(name: str) -> Any:
    if name == "check":
        from autograder.faces.check import check

        return check
    if name == "heatmap":
        from autograder.faces.heatmap import heatmap

        return heatmap
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")
