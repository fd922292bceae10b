"""What a notebook's cells run in: a warm shell, a bounded buffer for what they print, a proxy for this package."""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.sandbox.files import put
from autograder.sandbox.linux import isolation
from autograder.sandbox.protocol.messages import Setting
from autograder.sandbox.sandboxed import chance, effects, removal
from autograder.sandbox.sandboxed.bounded import Bounded as Bounded


def warm_shell(setting: Setting) -> tuple[Any, isolation.Removed]:
    """Import what every submission needs, once, and make the shell that its cells will run in.

    With it come the files that no new process may read.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = _quiet_shell_class(InteractiveShell)(config=config)
    names = dict[str, ModuleType]()
    for name, module in setting.names.items():
        with contextlib.suppress(ImportError):
            names[name] = importlib.import_module(module)
    if torch := sys.modules.get("torch"):
        # Modules then call the functions that are answered for, as a self-check may, and no kernel of their own.
        torch.backends.mha.set_fastpath_enabled(False)
    emptied = removal.emptied_sources(setting.forbidden.python)
    removal.take_away(setting.forbidden)
    for what in setting.forbidden.where_watched.values():
        removal.kernels_named(what.kernels)  # looked up once: no submission pays for it
    removed = isolation.removed(setting.forbidden.hidden, emptied)
    shell.user_ns.update(names)
    shell.run_cell("None", store_history=False)  # loads what IPython loads late
    chance.begin(0)  # the same submission gives the same report: every fork starts from the same random state
    gc.collect()
    gc.freeze()
    return shell, removed


def run_cell(shell: Any, source: str) -> BaseException | None:
    """Run a cell as a notebook would; the exception that it ended with, if any.

    Plain Python is compiled as a whole, in a third of the time that IPython takes for its statements one by one.
    IPython gets the rest: magics, `await`, and what is no Python, before any of it has run.
    """
    name = shell.compile.cache(source, shell.execution_count, source)
    try:
        tree = shell.compile.ast_parse(source, name)
        shown = tree.body.pop() if tree.body and _is_shown(tree.body[-1], source) else None
        parts = [(shell.compile(tree, name, "exec"), tree.body)]
        parts += [(shell.compile(ast.Interactive([shown]), name, "single"), [shown])] if shown else []
    except Exception:
        result = shell.run_cell(source, store_history=False)
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        return error
    with shell.builtin_trap, shell.display_trap:
        for code, body in parts:
            if body:
                exec(code, shell.user_ns)  # noqa: S102
    return None


def write_files(files: Mapping[str, bytes]) -> None:
    """Write files into the folder that cells begin in, which cannot change them; modules among them can be imported."""
    put(files, Path.cwd())
    effects.given = {name: str(Path.cwd() / name) for name in files}
    if any(name.endswith(".py") for name in files):
        sys.path.insert(0, str(Path.cwd()))


def _is_shown(node: ast.stmt, source: str) -> bool:
    """Is it a last expression, whose value a notebook shows?"""
    return isinstance(node, ast.Expr) and not source.rstrip().endswith(";")


def _quiet_shell_class(base: type) -> type:
    """An IPython shell that keeps errors as data and prints results without prompts."""
    from IPython.core.displayhook import DisplayHook

    class PlainDisplayHook(DisplayHook):  # type: ignore[misc]
        def write_output_prompt(self) -> None:
            """No `Out[3]:` before a result."""

    class QuietShell(base):  # type: ignore[misc]
        displayhook_class = PlainDisplayHook

        def showtraceback(self, *args: Any, **kwargs: Any) -> None:
            """The error is reported by the cell's runner."""

        showsyntaxerror = showindentationerror = showtraceback

        def enable_matplotlib(self, gui: Any = None) -> tuple[str, str]:
            """`%matplotlib inline` changes nothing: figures are drawn into memory, and shown nowhere."""
            return "agg", "agg"

    return QuietShell


def student_package(name: str) -> ModuleType:
    """`from autograder import check` works while grading, and does nothing; `autograder.grading` is True.

    name: the engine's, or the course's
    """
    module = ModuleType(name)
    module.grading = True  # type: ignore[attr-defined]
    module.__getattr__ = _visible  # type: ignore[method-assign]
    return module


def _visible(name: str) -> Any:
    if name.startswith("__"):  # libraries look at `__file__` and the like of every module
        raise AttributeError(name)
    return _nothing


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Visible tests and pictures are for the student's screen, not for grading."""
