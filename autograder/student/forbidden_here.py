"""What an exercise must not call, noticed in a kernel, where nothing can be taken out of the libraries."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograder.content import settings_of


@contextlib.contextmanager
def noticed(watched: Sequence[str]) -> Iterator[list[str]]:
    """Meanwhile, names of Python functions that are forbidden under `watched` are noted when they are called.

    PyTorch's own are noticed by `perform`. A function that was imported by its own name before is not.
    """
    where = settings_of().forbidden.where_watched
    pairs = [pair for part in watched if part in where for pair in where[part].python]
    seen: list[str] = []
    with contextlib.ExitStack() as around:
        for module, name in pairs:
            home = sys.modules.get(module)
            if home is not None and callable(own := getattr(home, name, None)):
                setattr(home, name, _noting(name, own, seen))
                around.callback(setattr, home, name, own)
        yield seen


def _noting(name: str, own: Callable[..., Any], seen: list[str]) -> Callable[..., Any]:
    def noting(*args: Any, **kwargs: Any) -> Any:
        seen.append(name)
        return own(*args, **kwargs)

    return noting
