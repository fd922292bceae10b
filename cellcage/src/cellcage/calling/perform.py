"""Performs one call with a notebook's names, and answers with plain data.

The same function runs in the sandbox and, for trusted code, outside it.
"""

from __future__ import annotations

import builtins
import contextlib
import linecache
import math
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from cellcage.calling import around_call
from cellcage.calling.around_call import Bounded
from cellcage.calling.proxy import from_handle, proxy
from cellcage.calling.ready_made import Watch
from cellcage.files import FOLDER
from cellcage.protocol.calls import (
    LEN,
    MAX_ERROR_TEXT,
    MAX_LINES,
    MAX_TYPES,
    Ask,
    Call,
    Failure,
    Gives,
    Instance,
    Kind,
    Line,
    Reply,
)
from cellcage.protocol.messages import BeginCalls
from cellcage.values.codec import Handle, as_data, encode
from cellcage.values.value import is_float_tensor, read_out
from cellcage.values.value_type import native

KINDS = (
    "NotImplementedError", "NameError", "UnboundLocalError", "TypeError", "ValueError", "IndexError", "KeyError",
    "AttributeError", "ZeroDivisionError", "OverflowError", "FloatingPointError", "AssertionError", "RecursionError",
    "MemoryError", "ModuleNotFoundError", "ImportError", "OSError", "RuntimeError", "StopIteration", "EOFError",
    "SystemExit", "KeyboardInterrupt", "SyntaxError",
)  # fmt: skip
DEBUGGER = "BdbQuit"  # raised by a debugger that nobody answers
ABSENT = object()
MAX_PRINTED = 16_000  # characters; an honest table has some thousand


class NoParameter(AttributeError):
    """The caller sets a parameter that the module does not have."""


def perform(names: MutableMapping[str, Any], call: Call) -> Reply | Failure:
    """Perform `call` with `names`. Never raises for what untrusted code does."""
    return Performer(names).perform(call)


class Performer:
    """Performs the calls of one call process, as it was begun. While it is entered, the watch is on.

    ask: sends questions of untrusted code to the other side; without it, none can be asked
    """

    def __init__(
        self, names: MutableMapping[str, Any], ask: Ask | None = None, begun_by: BeginCalls | None = None
    ) -> None:
        begun_by = begun_by or BeginCalls()
        self._names, self._ask, self._substituted = names, ask, begun_by.substituted
        self._watch = Watch(begun_by.watch.functions, names)

    def __enter__(self) -> Performer:
        self._on = self._watch.on()
        self._on.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._on.__exit__(None, None, None)

    def perform(self, call: Call, closely: bool = False) -> Reply | Failure:
        """Perform a call. If the watch notices something, the answer is a failure.

        closely: whether PyTorch's operators are watched, too
        """
        try:
            with self._substituting(call):
                answer = _performed(self._names, call.with_given(self._given), self._watch.calls(closely))
        except around_call.TooMuchHeld as error:
            answer = Failure(Kind.MEMORY, str(error))
        except BaseException as error:
            answer = describe(error, self._names)
        if found := self._watch.found:
            answer = Failure(Kind.NOTICED, found[0])
            found.clear()
        return answer

    def _given(self, value: Any) -> Any:
        ask = self._ask
        return from_handle(value, ask) if ask is not None and isinstance(value, Handle) else native(value)

    @contextlib.contextmanager
    def _substituting(self, call: Call) -> Iterator[None]:
        """Within the block, some names are proxies of the trusted side's."""
        names, ask = self._names, self._ask
        if ask is None:
            yield
            return
        in_torch = call.instance is not None or any(map(is_float_tensor, [*call.args, *call.kwargs.values()]))
        hidden = {other.name: names.get(other.name, ABSENT) for other in self._substituted}
        try:
            for other in self._substituted:
                own = hidden[other.name]
                names[other.name] = proxy(other, None if own is ABSENT else own, ask, in_torch)
            yield
        finally:
            for name, own in hidden.items():
                if own is ABSENT:
                    names.pop(name, None)
                else:
                    names[name] = own


def _performed(names: Mapping[str, Any], call: Call, watched: AbstractContextManager[None]) -> Reply | Failure:
    """Perform a call. watched: notices what untrusted code calls; left off while this side reads and writes values"""
    target = names.get(call.name)
    if target is None:
        return Failure(Kind.MISSING, call.name)
    if call.gives is Gives.NAME:
        return Reply(target)
    before = encode(call.positional) if call.sent is None else call.sent
    with contextlib.ExitStack() as around:
        folder = names.get(FOLDER)
        if folder:
            around.enter_context(contextlib.chdir(folder))
        dropped = around_call.surround(around, call)
        with watched:
            reply = _printed(target, call) if call.gives is Gives.PRINTED else _call(target, call)
            parts = read_out(reply.value), reply.inputs, reply.gradients, reply.parameters
            value, inputs, gradients, of_parameters = as_data(parts)
    inputs = None if encode(inputs) == before else inputs
    return Reply(value, inputs, gradients, of_parameters, reply.shapes, bool(dropped))


def describe(error: BaseException, names: Mapping[str, Any]) -> Failure:
    """An exception as a failure, with the notebook's lines of the traceback.

    Its `error` is on a short list, or the name of a class that the notebook defines.
    """
    types = [c.__name__ for c in type(error).__mro__ if issubclass(c, BaseException)][:MAX_TYPES]
    is_own = type(error) is names.get(types[0]) and not hasattr(builtins, types[0])
    listed = (name for name in types if name == DEBUGGER or (name in KINDS and hasattr(builtins, name)))
    known = next(listed, "Exception")
    try:
        text = str(error)[:MAX_ERROR_TEXT]
    except BaseException:
        text = "(its message could not be read)"
    lines = tuple(_own_lines(error, names))
    # PyTorch raises it, too, where it has no code for a call.
    is_stub = known == "NotImplementedError" and (not lines or not lines[-1].text or "raise" in lines[-1].text)
    kind = Kind.NO_PARAMETER if isinstance(error, NoParameter) else Kind.NOT_STARTED if is_stub else Kind.RAISED
    return Failure(kind, text, types[0] if is_own else known, lines, tuple(types))


def _own_lines(error: BaseException, names: Mapping[str, Any]) -> Iterator[Line]:
    """The last lines of the traceback in the notebook's code. Endless recursion has a thousand, slow to describe."""
    in_traceback = traceback.walk_tb(error.__traceback__)
    last = deque((entry for entry in in_traceback if entry[0].f_globals is names), MAX_LINES)
    for frame, number in last:
        yield Line(frame.f_code.co_name, number, linecache.getline(frame.f_code.co_filename, number).strip())


def _printed(function: Any, call: Call) -> Reply:
    """A reply with the text that the call prints as its value."""
    text = Bounded(MAX_PRINTED)
    with contextlib.redirect_stdout(text):
        _call(function, call)
    return Reply(text.getvalue())


def _call(function: Any, call: Call) -> Reply:
    if call.instance is not None:
        return _module(function, call, call.instance)
    if call.steps:
        return _used(function, call)
    if call.seeds is None:
        return Reply(function(*call.args, **call.kwargs), list(call.args))
    leaves = [_leaf(arg) for arg in call.args]
    value = function(*map(_not_leaf, leaves), **call.kwargs)
    found = iter(_gradients(value, [leaf for leaf in leaves if is_float_tensor(leaf)], call.seeds))
    return Reply(value, leaves, [next(found) if is_float_tensor(leaf) else None for leaf in leaves])


def _used(cls: Any, call: Call) -> Reply:
    """Make an object and call its methods. The reply's inputs are the arguments of all steps, in order."""
    value = None
    with _restored(cls):
        made = cls(*call.args, **call.kwargs)
        for step in call.steps:
            value = len(made) if step.method == LEN else getattr(made, step.method)(*step.args)
    return Reply(value, call.positional)


@contextlib.contextmanager
def _restored(cls: Any) -> Iterator[None]:
    """Restores a class afterwards, so that what its objects share is found by one test and does not affect others.

    This includes the contents of its containers, and of those that are defaults of `__init__`'s arguments.
    """
    attributes = {name: value for name, value in getattr(cls, "__dict__", {}).items() if not name.startswith("__")}
    defaults = getattr(getattr(cls, "__init__", None), "__defaults__", None) or ()
    shared = [item for item in (*attributes.values(), *defaults) if isinstance(item, list | dict | set | deque)]
    copies = [item.copy() for item in shared]
    try:
        yield
    finally:
        for item, copy in zip(shared, copies, strict=True):
            item.clear()
            (item.extend if isinstance(item, list | deque) else item.update)(copy)
        for name, value in attributes.items():
            setattr(cls, name, value)


def _module(cls: Any, call: Call, made: Instance) -> Reply:
    """Make an `nn.Module`, set its parameters, call the steps' methods, and run it forward and perhaps backward."""
    import torch

    module = cls(*made.args, **made.kwargs)
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{call.name} must be a torch.nn.Module")
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    if call.build:
        return Reply(None, shapes=shapes)
    _copy_parameters(module, made.parameters)
    for step in call.steps:
        _overwrite(getattr(module, step.method)(*step.args))
    if call.seeds is None:
        return Reply(module(*call.args, **call.kwargs), list(call.args), shapes=shapes)
    args = [*map(_leaf, call.args)]
    value = module(*map(_not_leaf, args), **call.kwargs)
    leaves = [arg for arg in args if is_float_tensor(arg)]
    parameters = _by_name(module)
    gradients = _gradients(value, leaves + list(parameters.values()), call.seeds)
    of_parameters = dict(zip(parameters, gradients[len(leaves) :], strict=True))
    return Reply(value, args, gradients[: len(leaves)], of_parameters, shapes)


def _overwrite(value: Any) -> None:
    """Write into the tensors that a call returned, as its caller may. A module that still uses them shows it."""
    import torch

    for part in value if isinstance(value, tuple | list) else [value]:
        if is_float_tensor(part):
            with torch.no_grad(), contextlib.suppress(RuntimeError):  # an expanded tensor cannot be written into
                part.fill_(math.nan)


def _by_name(module: Any) -> Mapping[str, Any]:
    """Parameters under all their names, including those of layers in plain lists.

    PyTorch does not count layers in a plain list; whether that is a mistake is for the caller to say.
    """
    found = dict(module.named_parameters(remove_duplicate=False))
    for prefix, part in module.named_modules():
        for name, layers in [pair for pair in vars(part).items() if isinstance(pair[1], (list, tuple))]:
            for place, layer in enumerate(layers):
                if hasattr(layer, "named_parameters"):
                    path = ".".join(filter(None, (prefix, name, str(place))))
                    found = {f"{path}.{inner}": value for inner, value in _by_name(layer).items()} | found
    return found


def _copy_parameters(module: Any, values: Mapping[str, Any]) -> None:
    """Copy by name, not with `load_state_dict(strict=True)`, so that a module may have additional buffers."""
    import torch

    parameters = _by_name(module)
    with torch.no_grad():
        for name, value in values.items():
            if name not in parameters:
                own = [other for other in parameters if other not in values]
                others = ", ".join([*own[:2], *(["..."] if own[2:] else [])])
                raise NoParameter(f"the module has no parameter {name}" + (f"; it has {others}" if others else ""))
            target = parameters[name]
            if tuple(target.shape) != tuple(value.shape):
                raise ValueError(f"{name} has shape {tuple(target.shape)}, it should be {tuple(value.shape)}")
            if target.dtype != value.dtype:
                target.data = target.data.to(value.dtype)
            target.copy_(value)


def _gradients(value: Any, leaves: list[Any], seeds: Sequence[Any]) -> list[Any]:
    """Gradients of sum(output * seed) by `leaves`; None where the output does not depend on a leaf, or it is frozen."""
    import torch

    many = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
    outputs = [v for v in many if isinstance(v, torch.Tensor)]
    pairs = [
        (out, seed)
        for out, seed in zip(outputs, seeds, strict=False)
        if seed is not None and out.requires_grad and out.shape == seed.shape
    ]
    trained = [leaf for leaf in leaves if leaf.requires_grad]
    if not pairs or not trained:
        return [None] * len(leaves)
    # A scalar, not torch's own `grad_outputs`, which imports a symbolic-algebra package first: 250 ms.
    total = sum((out * seed.to(out.dtype)).sum() for out, seed in pairs)
    found = iter(torch.autograd.grad(total, trained, allow_unused=True))
    return [next(found) if leaf.requires_grad else None for leaf in leaves]


def _not_leaf(leaf: Any) -> Any:
    """A clone, which untrusted code may change in place, as it may an activation. Autograd forbids that for a leaf."""
    return leaf.clone() if is_float_tensor(leaf) else leaf


def _leaf(value: Any) -> Any:
    return value.detach().requires_grad_(True) if is_float_tensor(value) else value
