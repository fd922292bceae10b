"""What is ready-made is not in the sandbox: who calls it asks the trusted side, which notes it.

Watching calls from inside student code's own process can be undone from there. So the students' fork server, which runs
nobody's code, takes away what `course.toml` names: every kernel of it becomes a question across the sandbox's boundary,
in PyTorch's dispatcher, where all names lead (`F`, `torch.ops.aten`, `torch._C`, TorchScript, other threads, autograd
functions), and so does every function of the libraries' Python source that computes it. While the notebook's cells run,
the trusted side answers, so that a self-check works; while a test runs, it notes the name and refuses. There is nothing
to put back: the original is gone, and its libraries are hidden from new processes (see `isolation`).

What only some suites forbid goes the same way in the process of a notebook that such a suite will judge, before its
first cell.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import functools
import importlib
import inspect
import re
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.protocol.calls import Ask, Call, Failure
from autograder.sandbox.protocol.messages import Forbidden
from autograder.sandbox.sandboxed import method_tables
from autograder.sandbox.sandboxed.proxy import ask_for

# Keys whose kernels compute nothing themselves: they note something, and go on to another key.
GO_ON = {"Autograd", "ADInplaceOrView", "Functionalize", "Tracer", "BackendSelect", "Meta"}
# A key in the dispatcher's own listing of an operator.
REGISTERED = re.compile(r"^(?!debug:)(\w+)(?:\[alias\])?: registered at", re.MULTILINE)
NOT_HERE = "is answered for plain, small inputs only while a notebook is graded; this is about a self-check, not a mark"


class Asked:
    """What stands in the place of a forbidden function calls this one, which asks the trusted side.

    ask: takes questions there; None until a notebook has somebody to ask
    """

    def __init__(self) -> None:
        self.ask: Ask | None = None

    def __call__(self, name: str, order: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The trusted side's answer to a call; raises `RuntimeError` if it refuses."""
        if self.ask is None:
            raise RuntimeError(f"the ready-made {name} {NOT_HERE}")
        try:
            return ask_for(name, order, self.ask, args, kwargs)
        except Exception:
            # Some arguments cannot be sent (a batched tensor inside vmap). That it was called is said all the same.
            answer = self.ask(Call(name, forbidden=True))
            raise RuntimeError(answer.text if isinstance(answer, Failure) else NOT_HERE) from None


asked = Asked()  # by this name emptied sources import it


def take_away(what: Forbidden) -> None:
    """Put questions in the place of what is ready-made, in this process and all that it forks, for good."""
    for place, name in what.python:
        _empty(_found(place, name), name)
    if "torch" in sys.modules:  # after the imports above, which may bring kernels along
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _take_kernels(what.kernels)
    for place, name in what.c:
        if (function := _found(place, name)) is not None:
            method_tables.empty(function, functools.partial(asked, name, (), (), {}))
            setattr(sys.modules[place], name, _question(name))


def emptied_sources(functions: Sequence[Sequence[str]]) -> dict[str, str]:
    """The files of such functions by path, their bodies emptied: a module that is loaded again brings none back.

    Lines keep their numbers. To be asked before the functions themselves are emptied.
    """
    files: dict[str, list[str]] = {}
    for place, name in functions:
        function = _found(place, name)
        with contextlib.suppress(OSError, TypeError):  # not there, or its source is not installed
            block, first = inspect.getsourcelines(function)
            path = inspect.getsourcefile(function) or ""
            lines = files.setdefault(path, Path(path).read_text(encoding="utf-8").splitlines(keepends=True))
            (node,) = ast.parse(textwrap.dedent("".join(block))).body
            assert isinstance(node, ast.FunctionDef)
            body = range(first + node.body[0].lineno - 2, first + (node.end_lineno or 0) - 1)
            indent = lines[body[0]][: len(lines[body[0]]) - len(lines[body[0]].lstrip())]
            for number in body:
                lines[number] = "\n"
            lines[body[0]] = f"{indent}from {__name__} import asked; return asked({name!r}, (), (), {{}})\n"
    return {path: "".join(lines) for path, lines in files.items()}


def _found(place: str, path: str) -> Any:
    """What stands at a dotted path in a module, past what is only wrapped around it; None if it is not there."""
    try:
        found: Any = importlib.import_module(place)
    except ImportError:  # another version of the library
        return None
    for name in path.split("."):
        found = inspect.unwrap(getattr(found, name, None))  # type: ignore[arg-type]
    return found


def _take_kernels(parts: tuple[str, ...]) -> None:
    import torch

    libraries: Any = {}
    for space, name, key in kernels_named(parts):
        if space not in libraries:
            # Not `torch.library`: that can be told to put back what was there. What is not let go of cannot, and no
            # list or name leads to this one.
            libraries[space] = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(libraries[space]))
        libraries[space].impl(f"{space}::{name}", key, _question(name), False)


@functools.cache
def kernels_named(parts: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Every kernel with such a name in PyTorch's dispatcher: namespace, operator, dispatch key."""
    if "torch" not in sys.modules:
        return []
    import torch

    names = [full for full in torch._C._dispatch_get_all_op_names() if any(part in full for part in parts)]
    keys = {full: REGISTERED.findall(torch._C._dispatch_dump(full)) for full in names}
    return [(*full.split("::", 1), key) for full in names for key in keys[full] if key not in GO_ON]


def _question(name: str) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        return asked(name, (), args, kwargs)

    return ask


def _empty(function: Any, name: str) -> None:
    """Give a Python function, under all its names, a body that asks."""
    if not isinstance(function, types.FunctionType):
        return
    order = tuple(inspect.signature(function).parameters)
    around = ", ".join(function.__code__.co_freevars)  # a new body must look at as many of them as the old one did
    text = (
        f"def around({around}):\n"
        f"    def {function.__name__}(*args, **kwargs):\n"
        f"        if not args and not kwargs: ({around})\n"
        f"        from autograder.sandbox.sandboxed.removal import asked\n"
        f"        return asked({name!r}, {order!r}, args, kwargs)\n"
        f"    return {function.__name__}\n"
    )
    made = dict[str, Callable[..., Any]]()
    exec(compile(text, "<ready-made>", "exec"), made)  # noqa: S102
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = made["around"](*function.__code__.co_freevars).__code__
