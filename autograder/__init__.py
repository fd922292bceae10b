"""Exercises that grade themselves: checks and hints for notebooks, and a grader that trusts no submission.

What a notebook uses: `check("row_centred")` runs the visible tests of an exercise, `hint("row_centred")` helps with
it, `heatmap(table)` draws numbers, `explore(draw, width=...)` puts a slider over pictures, `progress()` shows how far
one is in the whole course. Names that an installed
course brings for its notebooks can be imported from here, too. All load on first use, so that `import autograder` stays
quick.
"""

# Nothing but what Python itself has loaded by now: `python -m autograder` comes by here before it can leave out the
# current folder, which may be somebody else's.
import importlib
import importlib.util
import os
import sys

__version__ = "0.1.0"
__all__ = ["check", "explore", "grading", "heatmap", "hint", "progress"]

# True only while a submission is graded or validated: `if not grading:` keeps a long training out of it. nbgrader sets
# this variable in the kernels that it starts.
grading = "NBGRADER_EXECUTION" in os.environ

_HOMES = {
    "check": "autograder.student.check",
    "explore": "autograder.student.explore",
    "heatmap": "autograder.reports.heatmap",
    "hint": "autograder.student.hint",
    "progress": "autograder.student.progress",
}


class OlderVersion(ImportError):
    """A notebook asks for a name that this version does not have."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this, and no traceback."""
        return [f"autograder: {self}"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    # `from autograder import name` asks by way of this function of Python's. A package of the engine is imported later.
    asked_by_import = sys._getframe(1).f_code.co_name == "_handle_fromlist"
    if asked_by_import and not name.startswith("_") and importlib.util.find_spec(f"autograder.{name}") is None:
        return _of_a_course(name)
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")


def _of_a_course(name: str) -> object:
    """What an installed course brings under this name. Raises `OlderVersion` if none does."""
    from importlib.metadata import entry_points

    for one in entry_points(group="autograder.courses"):
        course = one.load()
        if name in getattr(course, "__all__", ()):
            found = globals()[name] = getattr(course, name)  # the statement asks twice, the second time by itself
            return found
    raise OlderVersion(
        f"there is no {name!r} in what is installed here, which has version {__version__}. It is older than this "
        "notebook: install the newest one (the course's page says how), then choose Kernel, Restart Kernel"
    )
