"""Dropout during a call: was one on, and what is the answer without it?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def noted(seen: list[str], off: bool) -> Iterator[None]:
    """Meanwhile `seen` gets a name for each dropout that is on; with `off`, it drops nothing.

    Layers call these two functions, too. What student code draws by itself is not known for a dropout.
    """
    import torch
    from torch.nn import functional

    of_layers, plain = functional.dropout, torch.dropout

    def is_on(p: float, train: bool) -> bool:
        if train and p > 0:
            seen.append("dropout")
        return train and not off

    def layers_dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        return of_layers(input, p, is_on(p, training), inplace)

    def plain_dropout(input: Any, p: float, train: bool) -> Any:
        return plain(input, p, is_on(p, train))

    functional.dropout, torch.dropout = layers_dropout, plain_dropout
    try:
        yield
    finally:
        functional.dropout, torch.dropout = of_layers, plain
