"""The state around a call: printed text kept, gradients on, memory counted, dropout noted."""

from __future__ import annotations

import contextlib
import io
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

from cellcage.protocol.calls import Call


class Bounded(io.TextIOBase):
    """A text stream that keeps the first `size` characters, and says that it cut the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        """Forget what was written."""
        self.parts: list[str] = []
        self.left = self.size

    def writable(self) -> bool:
        """Always true."""
        return True

    def write(self, text: str) -> int:
        """Keep as much of the text as fits. Returns its length, as every stream does."""
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.left -= len(text)
        return len(text)

    def getvalue(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("\n... (the rest of the output was cut)" if self.left < 0 else "")


class TooMuchHeld(Exception):
    """A call allocated more memory at once than it may."""


def surround(around: contextlib.ExitStack, call: Call) -> list[str]:
    """Enter the contexts that a call asks for. Returns a list that gets an item for each active dropout."""
    dropped = list[str]()
    if torch := sys.modules.get("torch"):
        # A question may be asked where gradients are off: in a backward pass, or in untrusted code under `no_grad`.
        around.enter_context(torch.enable_grad())
        around.enter_context(_DropoutNoted(torch, dropped, off=call.lenient))
    if call.lenient:
        around.enter_context(_lenient_view())
    if call.memory is not None:
        around.enter_context(_holding_at_most(call.memory))
    return dropped


class _DropoutNoted:
    """Within the block, each dropout that is on is noted; with `off`, nothing is dropped.

    PyTorch's layers call these two functions, too. Dropout that untrusted code implements itself is not recognised.
    A class, since every call enters it, and a generator takes four times as long.
    """

    def __init__(self, torch: Any, dropped: list[str], off: bool) -> None:
        self._torch, self._dropped, self._off = torch, dropped, off
        self._of_layers, self._plain = torch.nn.functional.dropout, torch.dropout

    def __enter__(self) -> None:
        self._torch.nn.functional.dropout, self._torch.dropout = self._layers_dropout, self._plain_dropout

    def __exit__(self, *exc: object) -> None:
        self._torch.nn.functional.dropout, self._torch.dropout = self._of_layers, self._plain

    def _is_on(self, p: float, train: bool) -> bool:
        if train and p > 0:
            self._dropped.append("dropout")
        return train and not self._off

    def _layers_dropout(self, input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        return self._of_layers(input, p, self._is_on(p, training), inplace)

    def _plain_dropout(self, input: Any, p: float, train: bool) -> Any:
        return self._plain(input, p, self._is_on(p, train))


@contextlib.contextmanager
def _lenient_view() -> Iterator[None]:
    """Within the block, `.view` falls back to `.reshape`."""
    import torch

    view = torch.Tensor.view

    def view_or_reshape(tensor: Any, *shape: Any) -> Any:
        try:
            return view(tensor, *shape)
        except RuntimeError:
            return tensor.reshape(*shape)

    torch.Tensor.view = view_or_reshape
    try:
        yield
    finally:
        torch.Tensor.view = view


@contextlib.contextmanager
def _holding_at_most(memory: int) -> Iterator[None]:
    """Raises `TooMuchHeld` if more than `memory` bytes were allocated at once. `tracemalloc` counts NumPy's, too."""
    is_tracing = tracemalloc.is_tracing()  # started by untrusted code
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not is_tracing:
            tracemalloc.stop()
    if peak - before > memory:
        raise TooMuchHeld(peak - before)
