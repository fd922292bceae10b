"""What goes on around a call: gradients are on, randomness is seeded, functions are watched, memory is counted."""

from __future__ import annotations

import contextlib
import functools
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.sandbox.protocol.calls import Call
from autograder.sandbox.sandboxed import chance, dropout


class TooMuchHeld(Exception):
    """More memory was held at once than a call may hold."""


def surround(
    around: contextlib.ExitStack, call: Call, watched: Sequence[str], seen: list[str], dropped: list[str]
) -> None:
    """Enter what a call asks for.

    seen, dropped: get the names of PyTorch's watched functions that are called meanwhile, and of dropouts that are on
    """
    if torch := sys.modules.get("torch"):
        # A question may come from where gradients are off: a backward pass, student code under `no_grad`.
        around.enter_context(torch.enable_grad())
        around.enter_context(dropout.noted(dropped, off=call.lenient))
        if watched:
            around.enter_context(_watch_class(torch)(seen, tuple(watched)))
    if call.chance is not None:
        around.enter_context(chance.seeded(call.chance.seed))
    if call.lenient:
        around.enter_context(_lenient())
    if call.memory is not None:
        around.enter_context(_holding_at_most(call.memory))


@contextlib.contextmanager
def _lenient() -> Iterator[None]:
    """Meanwhile `.view` goes on as `.reshape` if it cannot."""
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
    """Afterwards, was more than `memory` bytes held at once? NumPy tells Python's own count of memory what it takes."""
    is_counted = tracemalloc.is_tracing()  # by student code
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not is_counted:
            tracemalloc.stop()
    if peak - before > memory:
        raise TooMuchHeld(peak - before)


@functools.cache
def _watch_class(torch: Any) -> Any:
    class Watch(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, seen: list[str], watched: tuple[str, ...]) -> None:
            super().__init__()
            self.seen, self.watched = seen, watched

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "")
            if any(part in name for part in self.watched):
                self.seen.append(name)
            return func(*args, **(kwargs or {}))

    return Watch
