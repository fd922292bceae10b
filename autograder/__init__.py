"""Exercises on multi-head attention that grade themselves.

What a notebook uses: `check("softmax")` runs the visible checks of an exercise, `hint("softmax")` helps with it,
`heatmap(weights)` draws weights, `explore(draw, d_k=...)` puts a slider over pictures; for training a small model there
are `news`, `own_or_plain`, `loss_curve`, `look`, `highlight`, `without_head` and `word_by_word`
(`autograder.attention.workshop`). All load on first use, so that `import autograder` stays quick.
"""

# Nothing but what Python itself has loaded by now: `python -m autograder` comes by here before it can leave out the
# current folder, which may be a stranger's.
import importlib
import importlib.util
import os
import sys

__version__ = "0.1.0"
__all__ = [
    "check", "copycat", "explore", "grading", "heatmap", "highlight", "hint", "look", "loss_curve", "news",
    "own_or_plain", "without_head", "word_by_word",
]  # fmt: skip

# True only while a submission is graded or validated: `if not grading:` keeps a long training out of it. nbgrader sets
# this variable in the kernels that it starts.
grading = "NBGRADER_EXECUTION" in os.environ

_HOMES = {
    "check": "autograder.notebook.check",
    "copycat": "autograder.attention.workshop.copycat",
    "explore": "autograder.notebook.explore",
    "heatmap": "autograder.reports.heatmap",
    "highlight": "autograder.attention.workshop.looking",
    "hint": "autograder.notebook.hint",
    "look": "autograder.attention.workshop.looking",
    "loss_curve": "autograder.attention.workshop.loss_curve",
    "news": "autograder.attention.workshop.news",
    "own_or_plain": "autograder.attention.workshop.plain_decoder",
    "without_head": "autograder.attention.workshop.ablation",
    "word_by_word": "autograder.attention.workshop.ablation",
}
_MODULES = ("copycat", "news")  # of these a notebook takes the whole module


class OlderKit(ImportError):
    """A notebook asks for a name that this version of the kit does not have."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this, and no traceback."""
        return [f"autograder: {self}"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        # `from autograder import name` asks by way of this function of Python's. A room of the kit is imported later.
        asked_by_import = sys._getframe(1).f_code.co_name == "_handle_fromlist"
        if asked_by_import and not name.startswith("_") and importlib.util.find_spec(f"autograder.{name}") is None:
            raise OlderKit(
                f"there is no {name!r} in your kit, which has version {__version__}. Your kit is older than this "
                "notebook: install the newest one (the course's page says how), then choose Kernel, Restart Kernel"
            )
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    return home if name in _MODULES else getattr(home, name)
