"""Tells a test cell's own calls from those of an answer that it calls by name.

If an answer is a function of the notebook, its own code makes its calls. But it can be another name for a library's
function, a `partial` of one, or a module whose `forward` is one. Then the test cell seems to call the library itself.
So we look at the text of the call: whether it calls such an answer.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

LAZY = ("map", "filter")  # what is given to these is called later
MAX_WRAPPED = 8


@dataclass(frozen=True)
class OwnCalls:
    """Whether a call is a test cell's own.

    file: the file name of the cell's code; tree: its text
    answers: names that the notebook is to define; names: all that the notebook has
    listed: functions that an answer must not call
    """

    file: str
    tree: ast.Module
    answers: Collection[str]
    names: Mapping[str, Any]
    listed: Collection[str]

    def __call__(self, frame: FrameType) -> bool:
        """By the frame of the innermost code in the notebook's names that is running."""
        if frame.f_code.co_filename != self.file:
            return False
        call, known = self._running(frame), frame.f_globals | frame.f_locals
        return call is None or not any(self._is_answer(known.get(name)) for name in self._called(call))

    def _running(self, frame: FrameType) -> ast.Call | None:
        """The innermost call in the cell's text that a frame of it makes now."""
        line, end_line, column, end_column = [*frame.f_code.co_positions()][frame.f_lasti // 2]
        around = None
        for node in ast.walk(self.tree):  # outer nodes come first
            if (
                isinstance(node, ast.Call)
                and (node.lineno, node.col_offset) <= (line or 0, column or 0)
                and (end_line or 0, end_column or 0) <= (node.end_lineno or 0, node.end_col_offset or 0)
            ):
                around = node
        return around

    def _called(self, call: ast.Call) -> Iterator[str]:
        """Names in a call's text whose values it may call itself. Calls among its arguments have been made before."""
        yield from (name for given in (*call.args, *call.keywords) for name in _given(given))
        if isinstance(call.func, ast.Attribute) and call.func.attr in self.listed:
            yield from _given(call.func.value)  # such as `answer(x).softmax()`, where the text itself has the method
        else:
            yield from (node.id for node in ast.walk(call.func) if isinstance(node, ast.Name))

    def _is_answer(self, value: Any) -> bool:
        """Whether a value is an answer that is no function of the notebook's, or was made from one."""
        answers = [self.names[name] for name in self.answers if callable(self.names.get(name))]
        foreign = [one for one in answers if getattr(one, "__globals__", None) is not self.names]
        for _ in range(MAX_WRAPPED):
            if any(value is one or type(value) is one for one in foreign):
                return True
            inside = (getattr(value, name, None) for name in ("__wrapped__", "func", "__self__"))
            value = next((one for one in inside if one is not None), None)
        return False


def _given(node: ast.AST) -> Iterator[str]:
    """Names in an expression, but not those of which it only uses a result or an attribute."""
    if isinstance(node, ast.Name):
        yield node.id
    is_lazy = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LAZY
    if is_lazy or not isinstance(node, ast.Call | ast.Attribute):
        for child in ast.iter_child_nodes(node):
            yield from _given(child)
