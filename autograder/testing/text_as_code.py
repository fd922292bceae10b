"""While the reference answers a question of student code's, no text becomes a program.

A reference may hand text on to `eval`, or to pandas' `query`. The suite's own text is harmless there, but a question's
text is the student's choice, and the process that answers is the judge.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from autograder.sandbox.protocol.tables import Table
from autograder.testing.callback_cost import HOLDS, items_in

_refused = ContextVar("_refused", default=False)


@contextlib.contextmanager
def refusing_text_as_code(values: Iterable[Any]) -> Iterator[None]:
    """Meanwhile `compile`, `eval` and `exec` raise `RuntimeError` for text, if there is text among `values`.

    So does what compiles text while it is imported. The question then has no answer, and the student's own code counts.
    """
    if not any(map(_has_text, values)):
        yield
        return
    _watch()
    token = _refused.set(True)
    try:
        yield
    finally:
        _refused.reset(token)


@functools.cache
def _watch() -> None:
    """Begin to look at what is compiled; Python has no way to end that (PEP 578)."""

    def refuse(event: str, _: Any) -> None:
        if event == "compile" and _refused.get():
            raise RuntimeError("a question's text may not become a program")

    sys.addaudithook(refuse)


def _has_text(value: Any) -> bool:
    if isinstance(value, (*HOLDS, Table)):
        return any(map(_has_text, items_in(value)))
    return isinstance(value, str | bytes) and bool(value)
