"""Proxies that untrusted code gets in place of functions and modules on the trusted side.

A proxy looks like a function or an `nn.Module`, and asks across the sandbox's boundary. A question is a call, as those
in the other direction (see `protocol.calls`). So untrusted code can nowhere read that code. In PyTorch a proxy is
differentiable: a backward pass asks again, for gradients.

An `order` has the names of a function's parameters, by which keyword arguments become positional ones.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from cellcage.protocol.calls import Ask, Call, Instance, Kind, Reply
from cellcage.protocol.messages import Proxy
from cellcage.values.codec import WRITERS, Handle, encode
from cellcage.values.value import is_float_tensor, is_tensor
from cellcage.values.value_type import native, type_of

PLAIN = (np.generic, float, str, list, tuple, dict, set, frozenset, deque, type(None), Handle, *WRITERS)
Code = Callable[..., Any]


class Refused(Exception):
    """The trusted side does not answer this question."""


def proxy(substituted: Proxy, own: Code | None, ask: Ask, in_torch: bool) -> Any:
    """A function or an `nn.Module` class that asks the trusted side's of the same name.

    `own` is the notebook's code of that name. It is called if the question cannot be asked: a value does not cross
    the sandbox's boundary, or a call in PyTorch passes an array.
    """
    if substituted.module:
        return _class(substituted.name, substituted.order, ask)
    return _function(substituted.name, substituted.order, ask, own, in_torch)


def from_handle(handle: Handle, ask: Ask) -> Any:
    """A proxy of a callable that the caller passes as an argument; an `nn.Module` if that is one."""
    function = _function(handle.key, handle.order, ask, None, True)
    made = function if handle.parameters is None else _instance(function, handle.parameters)
    # A question can name it by this key, since a question to another function may pass it on. Setting the
    # attribute in `__dict__` bypasses an `nn.Module`'s bookkeeping.
    made.__dict__["_handle"] = Handle(handle.key, [], None)
    return made


def _as_handle(value: Any) -> Any:
    """A proxy from `from_handle` as its handle, anything else unchanged."""
    found = getattr(value, "_handle", None)
    return found if isinstance(found, Handle) else value


def _function(name: str, order: Sequence[str], ask: Ask, own: Code | None, in_torch: bool) -> Code:
    def function(*args: Any, **kwargs: Any) -> Any:
        placed, rest = _by_place(list(map(_as_handle, args)), {k: _as_handle(v) for k, v in kwargs.items()}, order)
        if own is None:
            return _value_or_error(ask, Call(name, placed, rest))
        if not _may_ask([*placed, *rest.values()], in_torch):
            return own(*args, **kwargs)
        try:
            return _value(ask, Call(name, placed, rest))
        except Refused:
            return own(*args, **kwargs)

    return function


def _may_ask(values: Sequence[Any], in_torch: bool) -> bool:
    """False if a value cannot be sent, or if a function in NumPy would do the work of a call in PyTorch."""
    return all(
        is_tensor(v) == in_torch
        if is_float_tensor(v) or isinstance(v, np.ndarray)
        else is_tensor(v) or isinstance(v, PLAIN) or type_of(v) is not None
        for v in values
    )


def _class(name: str, order: Sequence[str], ask: Ask) -> type:
    import torch

    class Proxy(torch.nn.Module):  # type: ignore[misc]
        """The trusted side's module, with parameters of the same names and shapes."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            self._made = Instance(args, kwargs)
            for path, shape in _asked(ask, Call(name, instance=self._made, build=True)).shapes.items():
                _register(self, path, torch.randn(shape) / math.sqrt(shape[-1] if shape else 1))

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            placed, rest = _by_place(args, kwargs, order)
            made = replace(self._made, parameters=dict(self.named_parameters()))
            return _value_or_error(ask, Call(name, placed, rest, made))

    Proxy.__name__ = name
    return Proxy


def _instance(function: Code, parameters: Mapping[str, Any]) -> Any:
    """An `nn.Module` that calls `function`, with these parameters."""
    import torch

    class Proxy(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    module = Proxy()
    for path, value in parameters.items():
        _register(module, path, value)
    return module


def _register(module: Any, path: str, value: Any) -> None:
    """Register `value` as the parameter at a dotted `path`, and plain modules on the way."""
    import torch

    *folders, name = path.split(".")
    for folder in folders:
        if not hasattr(module, folder):
            module.add_module(folder, torch.nn.Module())
        module = getattr(module, folder)
    module.register_parameter(name, torch.nn.Parameter(value, requires_grad=value.is_floating_point()))


def _by_place(
    args: Sequence[Any], kwargs: Mapping[str, Any], order: Sequence[str]
) -> tuple[list[Any], dict[str, object]]:
    """Arguments with keywords made positional as far as possible: only positional ones get gradients."""
    placed, rest = list(args), dict(kwargs)
    for name in order[len(placed) :]:
        if name not in rest:
            break
        placed.append(rest.pop(name))
    return placed, rest


def _value_or_error(ask: Ask, question: Call) -> Any:
    """As `_value`, but raises `RuntimeError` if the question is refused."""
    try:
        return _value(ask, question)
    except Refused as refused:
        raise RuntimeError(str(refused)) from None


def _value(ask: Ask, question: Call) -> Any:
    """The answer's value, connected to PyTorch's graph if there are tensors. Raises `Refused`."""
    made = question.instance or Instance()
    leaves = [*filter(is_float_tensor, question.args), *made.parameters.values()]
    if not leaves:
        reply = _asked(ask, question)
        if reply.inputs is not None:
            _write_back(question.args, reply.inputs)
        return native(reply.value)
    shape: list[Any] = []
    tensors = _across().apply(ask, question, shape, *leaves)
    return _rebuild(shape[0], iter(tensors))


def _write_back(given: Sequence[Any], afterwards: Sequence[Any]) -> None:
    """Write into the arguments what the trusted side has written into its copies. Raises `Refused` if it cannot."""
    for value, new in zip(given, afterwards, strict=True):
        if isinstance(value, np.ndarray) and isinstance(new, np.ndarray) and value.shape == new.shape:
            value[...] = new
        elif isinstance(value, list | dict | set | deque) and type(new) is type(value):
            _refill(value, new)
        elif isinstance(value, tuple) and isinstance(new, tuple) and len(value) == len(new):
            _write_back(value, new)
        elif not isinstance(value, Handle) and encode(value) != encode(new):
            raise Refused("what it changes is an argument that cannot be changed from here")


def _refill(value: Any, new: Any) -> None:
    """Give a list, dict, set or deque new contents. Items of a list that are equal stay the same objects."""
    if isinstance(value, list) and len(value) == len(new):
        for place, (item, new_item) in enumerate(zip(value, new, strict=True)):
            if isinstance(item, list | dict | set | deque) and type(new_item) is type(item):
                _refill(item, new_item)
            elif encode(item) != encode(new_item):
                value[place] = native(new_item)
        return
    value.clear()
    (value.extend if isinstance(value, list | deque) else value.update)(native(new))


@functools.cache
def _across() -> Any:
    import torch

    class Across(torch.autograd.Function):  # type: ignore[misc]
        """A question whose gradient is another question."""

        @staticmethod
        def forward(ctx: Any, ask: Ask, question: Call, shape: list[Any], *leaves: Any) -> Any:
            ctx.ask, ctx.question, ctx.count = ask, _frozen(question), len(leaves)
            # With `seeds`, even empty ones, a function in NumPy refuses tensors.
            value = _asked(ask, replace(ctx.question, seeds=[])).value
            items = value if isinstance(value, tuple | list) else [value]
            tensors = [item.clone() for item in items if is_tensor(item)]
            ctx.mark_non_differentiable(*(t for t in tensors if not t.is_floating_point()))
            shape.append(value)
            return tuple(tensors)

        @staticmethod
        def backward(ctx: Any, *seeds: Any) -> Any:
            reply = _asked(ctx.ask, replace(ctx.question, seeds=list(seeds)))
            found = list(reply.gradients or [])
            if ctx.question.instance is None:  # a function: an item for every argument, differentiable or not
                found = [g for g, arg in zip(found, ctx.question.args, strict=True) if is_float_tensor(arg)]
            else:
                found += [reply.parameters.get(name) for name in ctx.question.instance.parameters]
            return (None, None, None, *found)

    return Across


def _frozen(question: Call) -> Call:
    """A copy that untrusted code cannot change between a call and its gradient."""

    def copied(value: Any) -> Any:
        if is_tensor(value):
            return value.detach().clone()
        return [copied(item) for item in value] if isinstance(value, list) else value

    frozen = question.with_given(copied)
    made = frozen.instance
    if made is None:
        return frozen
    return replace(frozen, instance=replace(made, parameters={k: copied(v) for k, v in made.parameters.items()}))


def _rebuild(value: Any, tensors: Any) -> Any:
    """`value` with its tensors replaced, in order."""
    if isinstance(value, tuple | list):
        return type(value)(next(tensors) if is_tensor(item) else item for item in value)
    return next(tensors) if is_tensor(value) else value


def _asked(ask: Ask, question: Call) -> Reply:
    """The reply. Raises the trusted side's `ValueError` or `IndexError` again, and `Refused` for any other failure."""
    answer = ask(question)
    if isinstance(answer, Reply):
        return answer
    if answer.kind is Kind.RAISED and answer.error in ("ValueError", "IndexError"):
        raise getattr(builtins, answer.error)(answer.text)
    raise Refused(answer.text)
