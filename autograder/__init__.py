"""Exercises that grade themselves: checks and hints for notebooks, and a grader that trusts no submission.

Notebooks use `check("row_centred")` to run an exercise's visible tests, `hint("row_centred")` for help with it,
`heatmap(table)` to draw numbers, `explore(draw, width=...)` for a slider over pictures, and `progress()` to see how far
the student has come in the course. Names that an installed course offers to its notebooks can be imported from here,
too. All load on first use, so that `import autograder` stays fast.
"""

# Import only modules that Python itself has already loaded: `python -m autograder` runs this file before it removes the
# current folder, which may be somebody else's, from the path.
import importlib
import importlib.util
import os
import sys

__version__ = "0.1.0"
__all__ = ["check", "explore", "grading", "heatmap", "hint", "progress", "solution"]

# True only while a submission is graded or validated: `if not grading:` skips a long training then. nbgrader sets this
# variable in the kernels that it starts.
grading = "NBGRADER_EXECUTION" in os.environ

_HOMES = {
    "check": "autograder.student.check",
    "explore": "autograder.student.explore",
    "heatmap": "autograder.reports.heatmap",
    "hint": "autograder.student.hint",
    "progress": "autograder.student.progress",
    "solution": "autograder.student.hint",
}


class OlderVersion(ImportError):
    """A notebook imports a name that this version does not have."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [f"autograder: {self}"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    # For `from autograder import name`, Python calls this from `_handle_fromlist`. It imports subpackages afterwards.
    asked_by_import = sys._getframe(1).f_code.co_name == "_handle_fromlist"
    if asked_by_import and not name.startswith("_") and importlib.util.find_spec(f"autograder.{name}") is None:
        return _of_a_course(name)
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")


def _of_a_course(name: str) -> object:
    """What an installed course offers under this name. Raises `OlderVersion` if none does."""
    from importlib.metadata import entry_points

    for entry_point in entry_points(group="autograder.courses"):
        course = entry_point.load()
        if name in getattr(course, "__all__", ()):
            found = globals()[name] = getattr(course, name)  # the import statement looks the name up twice
            return found
    raise OlderVersion(
        f"there is no {name!r} in what is installed here, which has version {__version__}. It is older than this "
        "notebook: install the newest one (the course's page says how), then choose Kernel, Restart Kernel"
    )
