"""Perform one request against a student's names, and answer with plain data.

The same function runs inside the sandbox (grading) and in a notebook's kernel (`check`, stock nbgrader),
so a suite cannot tell the two apart. A request is a map:

    name        the exercise to call
    args        list of values; kwargs: map of values
    parameters  for an `nn.Module`: map of parameter name -> array to copy in after construction
    forward     for an `nn.Module`: {"args": [...], "kwargs": {...}}; absent: construct only
    cotangents  list of tensors or None, one per tensor of the output: also answer with gradients
    behind      map of names that the trusted side answers for instead of the student's own code (see `stand_in`)

An argument that is a `Handle` becomes something to call. Where the request brings either, `ask` takes student code's
questions to the trusted side. The reply is one of

    {"value": ..., "inputs": [...], "gradients": [...], "parameters": {...}, "shapes": {...}, "ready_made": ...}
    {"error": {"kind": ..., "text": ..., "lines": [...]}}
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from autograder.sandbox.inside.stand_in import Ask, from_handle, stand_in
from autograder.sandbox.protocol.wire import Handle

KINDS = (
    "NotImplementedError", "NameError", "UnboundLocalError", "TypeError", "ValueError", "IndexError", "KeyError",
    "AttributeError", "ZeroDivisionError", "OverflowError", "FloatingPointError", "AssertionError", "RecursionError",
    "MemoryError", "ModuleNotFoundError", "ImportError", "OSError", "RuntimeError", "StopIteration", "EOFError",
    "SystemExit", "KeyboardInterrupt", "SyntaxError",
)  # fmt: skip
MAX_ERROR_TEXT = 400
MAX_LINES = 3
ABSENT = object()


class MissingName(Exception):
    """The student's names do not hold the one that was asked for."""


def perform(
    names: dict[str, Any], request: dict[str, Any], ask: Ask | None = None, watch: bool = True
) -> dict[str, Any]:
    """Run `request` against `names`; never raises for what student code does.

    Without `watch`, calls of ready-made functions go unnoticed here: in the sandbox there is no ready-made attention.
    """
    hidden: dict[str, Any] = {}
    try:
        if ask is not None:
            request = _with_callables(request, ask)
            _put_behind(names, request, ask, hidden)
        target = names.get(request["name"])
        if target is None:
            raise MissingName(request["name"])
        with _watch(watch) as seen:
            reply = _module(target, request) if "forward" in request else _call(target, request)
        return reply | {"ready_made": seen[0]} if seen else reply
    except MissingName as error:
        return {"error": {"kind": "Missing", "text": str(error), "lines": []}}
    except BaseException as error:
        return {"error": describe(error, names)}
    finally:
        _put_back(names, hidden)


def _with_callables(request: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """The request with something to call in place of every handle."""

    def made(values: Any) -> Any:
        items = values.items() if isinstance(values, dict) else enumerate(values)
        found = {key: from_handle(value, ask) if isinstance(value, Handle) else value for key, value in items}
        return found if isinstance(values, dict) else list(found.values())

    request = request | {key: made(request[key]) for key in ("args", "kwargs")}
    if request.get("forward"):
        request["forward"] = {key: made(value) for key, value in request["forward"].items()}
    return request


def _put_behind(names: dict[str, Any], request: dict[str, Any], ask: Ask, hidden: dict[str, Any]) -> None:
    """Put stand-ins behind names; what was there goes to `hidden`."""
    in_torch = "forward" in request or any(map(_differentiable, [*request["args"], *request["kwargs"].values()]))
    for name, spec in request.get("behind", {}).items():
        hidden[name] = own = names.get(name, ABSENT)
        names[name] = stand_in(name, spec, None if own is ABSENT else own, ask, in_torch)


def _put_back(names: dict[str, Any], hidden: dict[str, Any]) -> None:
    for name, own in hidden.items():
        if own is ABSENT:
            names.pop(name, None)
        else:
            names[name] = own


# Parts of the names under which PyTorch's ready-made attention calls itself, however it was imported; and convolution,
# which an exercise makes out of heads.
READY_MADE = ("scaled_dot_product", "multi_head_attention", "flex_attention", "_transformer_encoder_layer_fwd", "conv")


@contextlib.contextmanager
def _watch(watch: bool) -> Iterator[list[str]]:
    """Names of PyTorch's ready-made functions that are called meanwhile, if they are watched."""
    seen: list[str] = []
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        if torch is not None:
            # A question may come from where gradients are off: a backward pass, student code under `no_grad`.
            stack.enter_context(torch.enable_grad())
            if watch:
                stack.enter_context(_watch_class(torch)(seen))
        yield seen


@functools.cache
def _watch_class(torch: Any) -> Any:
    class Watch(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, seen: list[str]) -> None:
            super().__init__()
            self.seen = seen

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "")
            if is_ready_made(name):
                self.seen.append(name)
            return func(*args, **(kwargs or {}))

    return Watch


@functools.lru_cache(1000)
def is_ready_made(name: str) -> bool:
    """Is that a name of PyTorch's ready-made attention, or of a part of it?"""
    return any(part in name for part in READY_MADE)


def describe(error: BaseException, names: dict[str, Any]) -> dict[str, Any]:
    """Kind (from a short list), text, and the student's own lines of the traceback."""
    kind = next(
        (c.__name__ for c in type(error).__mro__ if c.__name__ in KINDS and hasattr(builtins, c.__name__)), "Exception"
    )
    try:
        text = str(error)[:MAX_ERROR_TEXT]
    except BaseException:
        text = "(its message could not be read)"
    return {"kind": kind, "text": text, "lines": _student_lines(error, names)}


def _student_lines(error: BaseException, names: dict[str, Any]) -> list[list[Any]]:
    """[function, line number in the cell, source line] of frames that run in the student's names."""
    lines = []
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_globals is names:
            summary = traceback.extract_tb(_only(error.__traceback__, frame))
            source = (summary[0].line or "") if summary else ""
            lines.append([frame.f_code.co_name[:80], number, source[:160]])
    return lines[-MAX_LINES:]


def _only(tb: Any, frame: Any) -> Any:
    """A traceback that holds the one entry of `frame`."""
    import types

    while tb is not None and tb.tb_frame is not frame:
        tb = tb.tb_next
    return types.TracebackType(None, tb.tb_frame, tb.tb_lasti, tb.tb_lineno) if tb else None


def _call(function: Any, request: dict[str, Any]) -> dict[str, Any]:
    cotangents = request.get("cotangents")
    args, kwargs = request["args"], request["kwargs"]
    if cotangents is None:
        value = function(*args, **kwargs)
        return {"value": value, "inputs": list(args)}
    leaves = [_leaf(arg) for arg in args]
    value = function(*leaves, **kwargs)
    gradients = _gradients(value, [leaf for leaf in leaves if _differentiable(leaf)], cotangents)
    filled = iter(gradients)
    return {
        "value": value,
        "inputs": leaves,
        "gradients": [next(filled) if _differentiable(leaf) else None for leaf in leaves],
    }


def _module(cls: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Construct an `nn.Module`, copy the suite's weights in by name, run it forward and perhaps backward."""
    import torch

    module = cls(*request["args"], **request["kwargs"])
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{request['name']} must be a torch.nn.Module")
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    forward = request["forward"]
    if forward is None:
        return {"value": None, "inputs": [], "shapes": shapes}
    _copy_parameters(module, request.get("parameters") or {})
    cotangents = request.get("cotangents")
    args = [_leaf(arg) if cotangents is not None else arg for arg in forward["args"]]
    value = module(*args, **forward["kwargs"])
    reply = {"value": value, "inputs": list(args), "shapes": shapes}
    if cotangents is not None:
        reply |= _module_gradients(module, value, args, cotangents)
    return reply


def _module_gradients(module: Any, value: Any, args: list[Any], cotangents: list[Any]) -> dict[str, Any]:
    leaves = [arg for arg in args if _differentiable(arg)]
    parameters = _by_name(module)
    gradients = _gradients(value, leaves + list(parameters.values()), cotangents)
    of_inputs, of_parameters = gradients[: len(leaves)], gradients[len(leaves) :]
    return {"gradients": of_inputs, "parameters": dict(zip(parameters, of_parameters, strict=True))}


def _by_name(module: Any) -> dict[str, Any]:
    """Parameters under all their names: a layer that is kept in a list, too, is still the member W_Q."""
    return dict(module.named_parameters(remove_duplicate=False))


def _copy_parameters(module: Any, values: dict[str, Any]) -> None:
    """Copy by name, not `load_state_dict(strict=True)`: extra buffers of an honest module do no harm."""
    import torch

    parameters = _by_name(module)
    with torch.no_grad():
        for name, value in values.items():
            if name not in parameters:
                raise AttributeError(f"the module has no parameter {name}; it has {', '.join(parameters) or 'none'}")
            target = parameters[name]
            if tuple(target.shape) != tuple(value.shape):
                raise ValueError(f"{name} has shape {tuple(target.shape)}, it should be {tuple(value.shape)}")
            if target.dtype != value.dtype:
                target.data = target.data.to(value.dtype)
            target.copy_(value)


def _gradients(value: Any, leaves: list[Any], cotangents: list[Any]) -> list[Any]:
    """Gradients of sum(output * cotangent) by `leaves`; None where nothing flows."""
    import torch

    outputs = [v for v in (value if isinstance(value, tuple | list) else [value]) if isinstance(v, torch.Tensor)]
    pairs = [
        (out, seed)
        for out, seed in zip(outputs, cotangents, strict=False)
        if seed is not None and out.requires_grad and out.shape == seed.shape
    ]
    if not pairs or not leaves:
        return [None] * len(leaves)
    # One scalar, not torch's own `grad_outputs`: that path imports a symbolic-algebra package first, 250 ms.
    total = sum((out * seed.to(out.dtype)).sum() for out, seed in pairs)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def _differentiable(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and value.is_floating_point()


def _leaf(value: Any) -> Any:
    return value.detach().requires_grad_(True) if _differentiable(value) else value
