"""Perform one call against a student's names, and answer with plain data.

The same function runs inside the sandbox (grading) and in a notebook's kernel (`check`, stock nbgrader), so a suite
cannot tell the two apart.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import traceback
import types
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.sandbox.files import FOLDER
from autograder.sandbox.protocol.calls import (
    LEN,
    MAX_LINES,
    MAX_TYPES,
    Ask,
    Call,
    Failure,
    Instance,
    Kind,
    Line,
    Proxy,
    Reply,
)
from autograder.sandbox.protocol.kinds import Gives
from autograder.sandbox.protocol.of_pandas import MAY_HOLD, as_given
from autograder.sandbox.protocol.scalars import read_out
from autograder.sandbox.protocol.values import Handle, encode
from autograder.sandbox.sandboxed import chance, effects, figures, watching
from autograder.sandbox.sandboxed.proxy import from_handle, is_float_tensor, proxy

KINDS = (
    "NotImplementedError", "NameError", "UnboundLocalError", "TypeError", "ValueError", "IndexError", "KeyError",
    "AttributeError", "ZeroDivisionError", "OverflowError", "FloatingPointError", "AssertionError", "RecursionError",
    "MemoryError", "ModuleNotFoundError", "ImportError", "OSError", "RuntimeError", "StopIteration", "EOFError",
    "SystemExit", "KeyboardInterrupt", "SyntaxError",
)  # fmt: skip
MAX_ERROR_TEXT = 400
ABSENT = object()


class NoParameter(AttributeError):
    """A module has no parameter of a name that weights came for."""


def perform(
    names: MutableMapping[str, Any],
    call: Call,
    ask: Ask | None = None,
    substituted: Sequence[Proxy] = (),
    watched: Sequence[str] = (),
) -> Reply | Failure:
    """Perform `call` against `names`; never raises for what student code does.

    ask: takes questions of student code's to the other side; behind: the names that it answers for
    watched: parts of names of PyTorch's functions that are not to be called; one that is, is the answer
    """
    hidden = dict[str, object]()
    try:
        if ask is not None:
            _substitute(names, call, substituted, ask, hidden)
            if call.has_handle():
                call = call.with_given(lambda value: from_handle(value, ask) if isinstance(value, Handle) else value)
        if not MAY_HOLD.isdisjoint(map(type, call.given())):
            call = call.with_given(as_given)
        target = names.get(call.name)
        if target is None:
            return Failure(Kind.MISSING, call.name)
        if call.gives is Gives.NAME:
            return Reply(figures.as_data(target))
        before = encode(call.positional)
        seen: list[str] = []
        dropped: list[str] = []
        with contextlib.ExitStack() as around:
            folder = names.get(FOLDER)
            if folder:
                around.enter_context(contextlib.chdir(folder))
            watching.surround(around, call, watched, seen, dropped)
            reply = effects.performed(call, functools.partial(_call, target, call), finds_files=folder != "")
            if (value := read_out(reply.value)) is not reply.value:
                reply = replace(reply, value=value)
        if seen:
            return Failure(Kind.FORBIDDEN, seen[0])
        inputs = None if encode(reply.inputs) == before else reply.inputs
        return replace(reply, inputs=inputs, dropped=bool(dropped))
    except watching.TooMuchHeld as error:
        return Failure(Kind.MEMORY, str(error))
    except BaseException as error:
        return describe(error, names)
    finally:
        _put_back(names, hidden)


def _substitute(
    names: MutableMapping[str, Any], call: Call, substituted: Sequence[Proxy], ask: Ask, hidden: dict[str, object]
) -> None:
    """Put proxies behind names; what was there goes to `hidden`."""
    in_torch = call.instance is not None or any(map(is_float_tensor, [*call.args, *call.kwargs.values()]))
    for one in substituted:
        hidden[one.name] = own = names.get(one.name, ABSENT)
        names[one.name] = proxy(one, None if own is ABSENT else own, ask, in_torch)


def _put_back(names: MutableMapping[str, Any], hidden: Mapping[str, object]) -> None:
    for name, own in hidden.items():
        if own is ABSENT:
            names.pop(name, None)
        else:
            names[name] = own


# ---------------------------------------------------------------- errors


def describe(error: BaseException, names: Mapping[str, Any]) -> Failure:
    """Kind of exception, text, and the student's own lines of the traceback.

    The kind is from a short list, or it is a class that the notebook has by its name.
    """
    types = [c.__name__ for c in type(error).__mro__ if issubclass(c, BaseException)][:MAX_TYPES]
    own = type(error) is names.get(types[0]) and not hasattr(builtins, types[0])
    kind = next((name for name in types if name in KINDS and hasattr(builtins, name)), "Exception")
    try:
        text = str(error)[:MAX_ERROR_TEXT]
    except BaseException:
        text = "(its message could not be read)"
    how = Kind.NOT_STARTED if kind == "NotImplementedError" else Kind.RAISED
    how = Kind.NO_PARAMETER if isinstance(error, NoParameter) else how
    how = Kind.NO_INPUT if isinstance(error, effects.NoMoreInput) and text.isdecimal() else how
    return Failure(how, text, types[0] if own else kind, tuple(_student_lines(error, names)), tuple(types))


def _student_lines(error: BaseException, names: Mapping[str, Any]) -> Iterator[Line]:
    """The last frames that run in the student's names; of an endless recursion there are a thousand."""
    entries = deque[types.TracebackType](maxlen=MAX_LINES)
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_globals is names:
            entries.append(entry)
        entry = entry.tb_next
    for one in entries:
        alone = types.TracebackType(None, one.tb_frame, one.tb_lasti, one.tb_lineno)
        summary = traceback.extract_tb(alone)
        yield Line(one.tb_frame.f_code.co_name, one.tb_lineno, (summary[0].line or "") if summary else "")


# ---------------------------------------------------------------- calls


def _call(function: Any, call: Call) -> Reply:
    if call.instance is not None:
        return _module(function, call, call.instance)
    if call.steps:
        return _used(function, call)
    if call.seeds is None:
        args = list(call.args)
        if call.chance is not None:
            return Reply(chance.drawn(function, replace(call, args=args), call.chance), args)
        return Reply(function(*args, **call.kwargs), args)
    leaves = [_leaf(arg) for arg in call.args]
    value = function(*map(_given, leaves), **call.kwargs)
    found = iter(_gradients(value, [leaf for leaf in leaves if is_float_tensor(leaf)], call.seeds))
    return Reply(value, leaves, [next(found) if is_float_tensor(leaf) else None for leaf in leaves])


def _used(cls: Any, call: Call) -> Reply:
    """Make an object and call its methods. The inputs afterwards are those of all steps, one after the other."""
    value = None
    with _left_as_it_was(cls):
        made = cls(*call.args, **call.kwargs)
        for step in call.steps:
            value = len(made) if step.method == LEN else getattr(made, step.method)(*step.args)
    return Reply(value, call.positional)


@contextlib.contextmanager
def _left_as_it_was(cls: Any) -> Iterator[None]:
    """Afterwards a class holds what it held: what its objects share is for one test to find, and spoils no other call.

    Of what it holds, containers are put back as well; so are those that are the default of an argument of `__init__`.
    """
    own = {name: value for name, value in getattr(cls, "__dict__", {}).items() if not name.startswith("__")}
    defaults = getattr(getattr(cls, "__init__", None), "__defaults__", None) or ()
    shared = [one for one in (*own.values(), *defaults) if isinstance(one, list | dict | set | deque)]
    before = [one.copy() for one in shared]
    try:
        yield
    finally:
        for one, held in zip(shared, before, strict=True):
            one.clear()
            (one.extend if isinstance(one, list | deque) else one.update)(held)
        for name, value in own.items():
            setattr(cls, name, value)


def _module(cls: Any, call: Call, made: Instance) -> Reply:
    """Make an `nn.Module`, copy the suite's weights in by name, run it forward and perhaps backward.

    Steps are calls that are made before, with the same module.
    """
    import torch

    module = cls(*made.args, **made.kwargs)
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{call.name} must be a torch.nn.Module")
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    if call.build:
        return Reply(None, shapes=shapes)
    _copy_parameters(module, made.parameters)
    for step in call.steps:
        getattr(module, step.method)(*step.args)
    args = [_leaf(arg) if call.seeds is not None else arg for arg in call.args]
    if call.seeds is None:
        return Reply(module(*args, **call.kwargs), args, shapes=shapes)
    value = module(*map(_given, args), **call.kwargs)
    leaves = [arg for arg in args if is_float_tensor(arg)]
    parameters = _by_name(module)
    gradients = _gradients(value, leaves + list(parameters.values()), call.seeds)
    of_parameters = dict(zip(parameters, gradients[len(leaves) :], strict=True))
    return Reply(value, args, gradients[: len(leaves)], of_parameters, shapes)


def _by_name(module: Any) -> Mapping[str, Any]:
    """Parameters under all their names: a layer that is kept in a list, too, is still the member that it was.

    And those of layers that are kept in a plain list alone, which PyTorch does not count: that is for suites to judge.
    """
    found = dict(module.named_parameters(remove_duplicate=False))
    for prefix, part in module.named_modules():
        for name, kept in [pair for pair in vars(part).items() if isinstance(pair[1], (list, tuple))]:
            for place, layer in enumerate(kept):
                if hasattr(layer, "named_parameters"):
                    path = ".".join(filter(None, (prefix, name, str(place))))
                    found = {f"{path}.{own}": value for own, value in _by_name(layer).items()} | found
    return found


def _copy_parameters(module: Any, values: Mapping[str, Any]) -> None:
    """Copy by name, not `load_state_dict(strict=True)`: extra buffers of an honest module do no harm."""
    import torch

    parameters = _by_name(module)
    with torch.no_grad():
        for name, value in values.items():
            if name not in parameters:
                others = ", ".join([own for own in parameters if own not in values][:2])
                raise NoParameter(f"the module has no parameter {name}" + (f"; it has {others}" if others else ""))
            target = parameters[name]
            if tuple(target.shape) != tuple(value.shape):
                raise ValueError(f"{name} has shape {tuple(target.shape)}, it should be {tuple(value.shape)}")
            if target.dtype != value.dtype:
                target.data = target.data.to(value.dtype)
            target.copy_(value)


def _gradients(value: Any, leaves: list[Any], seeds: Sequence[Any]) -> list[Any]:
    """Gradients of sum(output * seed) by `leaves`; None if nothing flows."""
    import torch

    many = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
    outputs = [v for v in many if isinstance(v, torch.Tensor)]
    pairs = [
        (out, seed)
        for out, seed in zip(outputs, seeds, strict=False)
        if seed is not None and out.requires_grad and out.shape == seed.shape
    ]
    if not pairs or not leaves:
        return [None] * len(leaves)
    # One scalar, not torch's own `grad_outputs`: that path imports a symbolic-algebra package first, 250 ms.
    total = sum((out * seed.to(out.dtype)).sum() for out, seed in pairs)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def _given(leaf: Any) -> Any:
    """What code gets in place of a leaf. As in a network it is no leaf itself, which autograd lets nobody change."""
    return leaf.clone() if is_float_tensor(leaf) else leaf


def _leaf(value: Any) -> Any:
    return value.detach().requires_grad_(True) if is_float_tensor(value) else value
