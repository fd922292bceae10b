"""Removes forbidden built-in implementations from the sandbox: a call of one asks the trusted side, which notes it.

Student code could undo a watch in its own process. So the students' fork server, which runs no student code, removes
what `course.toml` names. In PyTorch's dispatcher, to which all names lead (`F`, `torch.ops.aten`, `torch._C`,
TorchScript, other threads, autograd functions), it replaces every such kernel by a question across the sandbox's
boundary. It does the same with every function in the libraries' Python source that computes the result. While the
notebook's cells run, the trusted side answers, so that a self-check works. While a test runs, it notes the name and
refuses. Nothing can be put back: the original is gone, and its libraries are hidden from new processes (see
`isolation`).

What only some hidden tests forbid is removed in the same way before a notebook's first cell, if these tests will judge
the notebook.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import functools
import importlib
import inspect
import os
import re
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellcage.calling.proxy import ask_for
from cellcage.protocol.calls import Ask, Call, Failure
from cellcage.protocol.messages import Forbidden

# Dispatch keys whose kernels compute nothing themselves: they note something, and pass the call on to another key.
PASS_ON = {"Autograd", "ADInplaceOrView", "Functionalize", "Tracer", "BackendSelect", "Meta"}
# A key in the dispatcher's listing of an operator.
REGISTERED = re.compile(r"^(?!debug:)(\w+)(?:\[alias\])?: registered at", re.MULTILINE)
NOT_HERE = "is answered for plain, small inputs only while a notebook is graded; this is about a self-check, not a mark"

send_question: Ask | None = None  # to the trusted side; None as long as there is no connection


def trusted_side(name: str, order: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The trusted side's answer to a call of a removed function. Raises `RuntimeError` if it refuses.

    Emptied sources import this function.
    """
    if send_question is None:
        raise RuntimeError(f"the ready-made {name} {NOT_HERE}")
    try:
        return ask_for(name, order, send_question, args, kwargs)
    except Exception:
        # Some arguments cannot be sent (a batched tensor inside vmap). The call is reported all the same.
        answer = send_question(Call(name, forbidden=True))
        raise RuntimeError(answer.text if isinstance(answer, Failure) else NOT_HERE) from None


def remove_forbidden(what: Forbidden) -> None:
    """Replace these functions by questions, for good, in this process and all that it forks."""
    for module, name in what.python:
        _replace_body(_resolved(module, name), name)
    if "torch" in sys.modules:  # looked up after the imports above, which may add kernels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _replace_kernels(what.kernels)
    for module, name in what.c:
        if (function := _resolved(module, name)) is not None:
            _empty_entry(function, functools.partial(trusted_side, name, (), (), {}))
            setattr(sys.modules[module], name, _question(name))


def emptied_sources(functions: Sequence[Sequence[str]]) -> dict[str, str]:
    """The source files of such functions by path, with a question as their bodies, should a module be loaded again.

    Line numbers stay the same. Call this before the functions themselves are replaced.
    """
    files: dict[str, list[str]] = {}
    for module, name in functions:
        function = _resolved(module, name)
        with contextlib.suppress(OSError, TypeError):  # it does not exist, or its source is not installed
            block, first = inspect.getsourcelines(function)
            path = inspect.getsourcefile(function) or ""
            lines = files.setdefault(path, Path(path).read_text(encoding="utf-8").splitlines(keepends=True))
            (node,) = ast.parse(textwrap.dedent("".join(block))).body
            assert isinstance(node, ast.FunctionDef)
            body = range(first + node.body[0].lineno - 2, first + (node.end_lineno or 0) - 1)
            indent = lines[body[0]][: len(lines[body[0]]) - len(lines[body[0]].lstrip())]
            for number in body:
                lines[number] = "\n"
            question = f"from {__name__} import trusted_side; return trusted_side({name!r}, (), (), {{}})"
            lines[body[0]] = f"{indent}{question}\n"
    return {path: "".join(lines) for path, lines in files.items()}


def _resolved(module: str, path: str) -> Any:
    """The object at a dotted path in a module, without its wrappers; None if there is none."""
    try:
        found: Any = importlib.import_module(module)
    except ImportError:  # another version of the library
        return None
    for name in path.split("."):
        found = inspect.unwrap(getattr(found, name, None))  # type: ignore[arg-type]
    return found


def _replace_kernels(parts: tuple[str, ...]) -> None:
    import torch

    libraries: Any = {}
    for space, name, key in kernels_named(parts):
        if space not in libraries:
            # Not `torch.library`, which can restore the original. This object is never freed, so that it cannot do so,
            # and no list or name leads to it.
            libraries[space] = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(libraries[space]))
        libraries[space].impl(f"{space}::{name}", key, _question(name), False)


@functools.cache
def kernels_named(parts: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Every kernel in PyTorch's dispatcher whose name has one of these parts: namespace, operator, dispatch key."""
    if "torch" not in sys.modules:
        return []
    import torch

    names = [full for full in torch._C._dispatch_get_all_op_names() if any(part in full for part in parts)]
    keys = {full: REGISTERED.findall(torch._C._dispatch_dump(full)) for full in names}
    return [(*full.split("::", 1), key) for full in names for key in keys[full] if key not in PASS_ON]


def _question(name: str) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        return trusted_side(name, (), args, kwargs)

    return ask


def _replace_body(function: Any, name: str) -> None:
    """Replace the body of a Python function by a question. This changes it under all its names."""
    if not isinstance(function, types.FunctionType):
        return
    order = tuple(inspect.signature(function).parameters)
    free = ", ".join(function.__code__.co_freevars)  # the new body must use as many of them as the old one
    text = (
        f"def around({free}):\n"
        f"    def {function.__name__}(*args, **kwargs):\n"
        f"        if not args and not kwargs: ({free})\n"
        f"        from cellcage.inside.removal import trusted_side\n"
        f"        return trusted_side({name!r}, {order!r}, args, kwargs)\n"
        f"    return {function.__name__}\n"
    )
    made = dict[str, Callable[..., Any]]()
    exec(compile(text, "<ready-made>", "exec"), made)  # noqa: S102
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = made["around"](*function.__code__.co_freevars).__code__


# ---------------------------------------------------------------- functions in C

# They are replaced in the table (`PyMethodDef`) from which their library creates them. It is not enough to replace a
# module's attribute: `_imp.create_dynamic` creates the module again, and the garbage collector still lists the replaced
# function. All of these call what the table's entry points to.

_ARGUMENTS = 4  # most that a function in C gets, whatever its flags: module, arguments, their number or names, names


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Function(ctypes.Structure):
    """A function in C, as it is laid out in memory."""

    _fields_ = (("head", ctypes.c_char * object.__basicsize__), ("method", ctypes.POINTER(_Method)))


_Callback = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * _ARGUMENTS)


def _empty_entry(function: object, instead: Callable[[], object]) -> None:
    """From now on every function that is created from this one's entry calls `instead`, and returns None.

    Has no effect if `function` is not a function in C, or if its library's table cannot be written.
    """
    if not isinstance(function, types.BuiltinFunctionType):
        return
    method = _Function.from_address(id(function)).method.contents
    if method.name != function.__name__.encode():
        return

    def call(*_: object) -> None:
        with contextlib.suppress(Exception):
            instead()

    made = _Callback(call)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))  # the table holds no reference
    place = ctypes.addressof(method) + _Method.call.offset
    _write(place, bytes(ctypes.cast(made, ctypes.c_void_p)))


def _write(place: int, what: bytes) -> None:
    """Write into this process's memory by a pipe, as the kernel then refuses to write into a read-only table."""
    reading, writing = os.pipe()
    try:
        os.write(writing, what)
        ctypes.CDLL(None).read(reading, ctypes.c_void_p(place), len(what))
    finally:
        os.close(reading)
        os.close(writing)
