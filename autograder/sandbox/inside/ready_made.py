"""PyTorch's ready-made attention is not in the sandbox: who calls it asks the trusted side, which notes it.

Watching calls from inside student code's own process can be undone from there. So the warm process takes ready-made
attention away before it runs anybody's code: every kernel of it becomes a question over the wall, in PyTorch's
dispatcher, where all names lead (`F`, `torch.ops.aten`, `torch._C`, TorchScript, other threads, autograd functions).
While the notebook's cells run, the trusted side answers, so that a self-check works; while a test runs, it notes the
name and refuses. There is nothing to put back: the original is gone, and its libraries are hidden from new processes
(see `walls`).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import inspect
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograder.sandbox.inside.stand_in import ask_for
from autograder.sandbox.protocol.calls import Asked, Call, Failure

QUESTION = "ready-made "  # how the name in such a question begins
KEYS = (
    "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeImplicitAutogradNestedTensor", "CPU",
    "AutogradCPU", "NestedTensorCPU", "AutocastCPU", "FuncTorchBatched", "FuncTorchBatchedDecomposition",
    "FuncTorchVmapMode",
)  # fmt: skip
NOT_HERE = "is answered for plain, small inputs only while a notebook is graded; this is about a self-check, not a mark"

_ask: Asked | None = None


def answered_by(ask: Asked) -> None:
    """From now on `ask` takes questions to the trusted side."""
    global _ask
    _ask = ask


def take_away(what: dict[str, Any]) -> None:
    """Put questions in the place of what is ready-made, in this process and all that it forks, for good.

    what: parts of `kernels`' names, and `python` functions by module and name
    """
    import torch

    # Not `torch.library`: that can be told to put back what was there. What is not let go of cannot, and no list or
    # name leads to this one.
    library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for full, key in _kernels(what["kernels"]):
            library.impl(full, key, _question(full.partition("::")[2]), False)
    for place, name in what["python"]:
        with contextlib.suppress(ImportError):  # another version of PyTorch
            _empty(getattr(importlib.import_module(place), name, None))


def _kernels(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every kernel with such a name in PyTorch's dispatcher: operator and dispatch key."""
    import torch

    for full in torch._C._dispatch_get_all_op_names():
        if full.startswith("aten::") and any(part in full for part in parts):
            yield from ((full, key) for key in KEYS if torch._C._dispatch_has_kernel_for_dispatch_key(full, key))


def _question(name: str) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        return asked(name, (), args, kwargs)

    return ask


def _empty(function: Any) -> None:
    """Give a Python function, under all its names, a body that asks."""
    if not isinstance(function, types.FunctionType):
        return
    order = tuple(inspect.signature(function).parameters)
    text = (
        f"def {function.__name__}(*args, **kwargs):\n"
        f"    from autograder.sandbox.inside.ready_made import asked\n"
        f"    return asked({function.__name__!r}, {order!r}, args, kwargs)\n"
    )
    made: dict[str, Any] = {}
    exec(compile(text, "<PyTorch's ready-made attention>", "exec"), made)  # noqa: S102
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = made[function.__name__].__code__


def asked(name: str, order: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The trusted side's answer to a call; raises `RuntimeError` where it refuses."""
    if _ask is None:
        raise RuntimeError(f"PyTorch's {name} {NOT_HERE}")
    try:
        return ask_for(QUESTION + name, order, _ask, args, kwargs)
    except Exception:
        # Some arguments cannot be sent (a batched tensor inside vmap). That it was called is said all the same.
        answer = _ask(Call(QUESTION + name))
        raise RuntimeError(answer.text if isinstance(answer, Failure) else NOT_HERE) from None
