"""A cell of plain asserts, run among the student's names: how it ends, and nothing of what it prints."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass
from typing import Any

from autograder.sandbox.sandboxed.shell import Bounded

NAME = "<test cell>"  # of its code; its text is kept nowhere, so that no later cell finds it
SHOWN = 100  # characters of its last value, of which a number takes a few


@dataclass
class Tested:
    """What a test cell left: its last value as a notebook shows it, and did it write to standard error?"""

    shown: str = ""
    warned: bool = False


def run_test(shell: Any, source: str, tested: Tested) -> BaseException | None:
    """Run a test cell in the notebook's names; the exception that it could not be compiled with, if any."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        try:
            tree = ast.parse(shell.transform_cell(source))  # it has magics
        except SyntaxError as error:
            return error
    last = tree.body[-1] if tree.body and not source.rstrip().endswith(";") else None
    shown = ast.Expression(tree.body.pop().value) if isinstance(last, ast.Expr) else None  # type: ignore[attr-defined]
    errors = Bounded(1)
    with shell.builtin_trap, contextlib.redirect_stderr(errors), contextlib.redirect_stdout(Bounded(0)):
        exec(compile(tree, NAME, "exec"), shell.user_ns)  # noqa: S102
        value = None if shown is None else eval(compile(shown, NAME, "eval"), shell.user_ns)  # noqa: S307
        if value is not None:
            tested.shown = str(shell.display_formatter.formatters["text/plain"](value))[:SHOWN]
    tested.warned = errors.left < errors.size
    return None


def line_of(error: BaseException | None) -> int:
    """The line of the test cell in which an exception was raised, or called what raised it; 0 if there is none."""
    entry = error.__traceback__ if error is not None else None
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == NAME:
            return entry.tb_lineno
        entry = entry.tb_next
    return 0
