"""Notices calls of ready-made functions: those that the code is to do without.

Names are listed in two forms:

- a plain name, such as `softmax`: whatever PyTorch calls by it, which may be a function, a method of tensors, an
  operator, or a class of `torch.nn`;
- a path, such as `numpy.convolve`: the function there, or any method of the class there.

A function that is written in Python gets other code while the watch is on. So it is noticed wherever it is kept: under
another name, in a `partial`, a default argument, a container, or the library's own modules. One that is written in C is
only replaced in its module and among the notebook's names.

Untrusted code runs in this process and can undo the watch. Such code is visible in its cell.

A test cell's own calls do not count, but those of an answer do that it calls by name. If an answer is a function of the
notebook, its own code makes its calls. But it can be another name for a library's function, a `partial` of one, or a
module whose `forward` is one. Then the test cell seems to call the library itself. So we look at the text of the call:
whether it calls such an answer.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from cellcage.protocol.messages import Watched

LAZY = ("map", "filter")  # what is given to these is called later
MAX_WRAPPED = 8


class Watch:
    """Notices calls of listed functions that the code in `names` makes, directly or through others.

    found: those that were called, as listed, in order, since the list was emptied
    exempt: whether a call does not count, by the frame of the innermost code in `names` that is running
    """

    def __init__(
        self,
        listed: Collection[str],
        names: MutableMapping[str, Any],
        exempt: Callable[[FrameType], bool] | None = None,
    ) -> None:
        self.found: list[str] = []
        self._listed, self._names, self._exempt = frozenset(listed), names, exempt
        self._paths = [path.rpartition(".") for path in listed if "." in path]  # with the name of each one's module

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch within the block."""
        if not self._listed:
            yield
            return
        with contextlib.ExitStack() as around:
            watch_module = functools.partial(self._watch_module, around)
            later = {module for module in {module for module, _, _ in self._paths} if not watch_module(module)}
            if later:
                finder = _AfterImport(later, watch_module)
                sys.meta_path.insert(0, finder)
                around.callback(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)
            if torch := sys.modules.get("torch"):
                around.callback(torch.nn.modules.module.register_module_forward_pre_hook(self._note_module).remove)
            yield

    @contextlib.contextmanager
    def calls(self, closely: bool = False) -> Iterator[None]:
        """Within the block, watch PyTorch's functions, too, which takes time at each of them.

        closely: also its operators, which makes small ones much slower
        """
        with contextlib.ExitStack() as around:
            if self._listed and "torch" in sys.modules:
                for mode in _modes()[: 1 + closely]:
                    around.enter_context(mode(self.note))
            yield

    def note(self, name: str) -> None:
        """Note a call if its name is listed. The name of an operator may end in `.` and an overload's name."""
        plain = name.partition(".")[0]
        if plain in self._listed:
            self._add(plain)

    def _add(self, listed: str) -> None:
        if self._exempt is None or not self._exempt(self._calling()):
            self.found.append(listed)

    def _calling(self) -> FrameType:
        """The innermost code in `names` that is running."""
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_globals is not self._names:
            frame = frame.f_back
        return frame

    def _note_module(self, module: Any, args: Any) -> None:
        for cls in type(module).__mro__:
            if cls.__module__.startswith("torch."):
                self.note(cls.__name__)

    def _watch_module(self, around: contextlib.ExitStack, module: str) -> bool:
        """Watch what is listed of a module. False if it is not imported."""
        if (imported := sys.modules.get(module)) is None:
            return False
        for name in [name for its, _, name in self._paths if its == module]:
            found, noted = getattr(imported, name, None), functools.partial(self._add, f"{module}.{name}")
            for one in vars(found).values() if isinstance(found, type) else [found]:
                function = inspect.unwrap(one) if callable(one) else None
                if isinstance(function, FunctionType) and not function.__closure__:
                    _exchange_code(function, noted, around)
                elif function and one is found:
                    self._replace(vars(imported), name, noted, around)
        return True

    def _replace(
        self, module: MutableMapping[str, Any], name: str, noted: Callable[[], None], around: contextlib.ExitStack
    ) -> None:
        """Replace a function of a module by one that notes each call, there and in `names`."""
        original = module[name]
        noting = functools.wraps(original)(functools.partial(_note_and_call, noted, original))
        own = [key for key, value in self._names.items() if value is original]
        for place, key in [(module, name), *((self._names, key) for key in own)]:
            place[key] = noting
            around.callback(place.__setitem__, key, original)


class _AfterImport(MetaPathFinder):
    """Calls `then` with a module's name as soon as one of these modules has been imported."""

    def __init__(self, modules: Collection[str], then: Callable[[str], object]) -> None:
        self._modules, self._then = modules, then

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As Python's own finder, which does not call the function."""
        spec = PathFinder.find_spec(name, path, target) if name in self._modules else None
        if spec is not None and (loader := spec.loader) is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._then(name)

            vars(loader)["exec_module"] = exec_module
        return spec


def _note_and_call(noted: Callable[[], None], function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    noted()
    return function(*args, **kwargs)


def _noting(*args: Any, _then: Callable[..., Any], **kwargs: Any) -> Any:
    return _then(*args, **kwargs)


def _exchange_code(function: FunctionType, noted: Callable[[], None], around: contextlib.ExitStack) -> None:
    """Let a function call `noted` first. It stays the same object, with the same name and signature."""
    original = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    original.__kwdefaults__, original.__annotations__ = function.__kwdefaults__, function.__annotations__
    around.callback(_set_code, function, function.__code__, function.__kwdefaults__)
    _set_code(function, _noting.__code__, {"_then": functools.partial(_note_and_call, noted, original)})
    function.__dict__["__wrapped__"] = original  # for its signature
    around.callback(function.__dict__.pop, "__wrapped__", None)


def _set_code(function: FunctionType, code: CodeType, defaults: dict[str, Any] | None) -> None:
    function.__code__, function.__kwdefaults__ = code, defaults  # type: ignore[assignment]


@functools.cache
def _modes() -> tuple[Any, Any]:
    """What PyTorch calls before each of its functions, and before each operator. Their argument gets the name."""
    from torch import Tensor
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    plain = Tensor.__torch_dispatch__

    class Functions(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, note: Callable[[str], None]) -> None:
            super().__init__()
            self._note = note

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self._note(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):  # type: ignore[misc]
        supports_higher_order_operators = True

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """False, since otherwise the first operator imports PyTorch's compiler, which takes a second."""
            return False

        def __init__(self, note: Callable[[str], None]) -> None:
            super().__init__()
            self._note = note

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self._note(func.__name__)
            if types and any(one.__torch_dispatch__ is not plain for one in types):
                return NotImplemented  # a subclass of tensors answers, and what it calls is watched, too
            return func(*args, **(kwargs or {}))

    return Functions, Operators


# ---------------------------------------------------------------- a test cell's own calls


@contextlib.contextmanager
def watched_test(watched: Watched, names: MutableMapping[str, Any], file: str, tree: ast.Module) -> Iterator[list[str]]:
    """Within the block, watch a test cell. The list gets each function that is called, but not by the test cell itself.

    file, tree: the file name of the cell's code, and its text
    """
    own = OwnCalls(file, tree, watched.answers, names, watched.functions)
    watch = Watch(watched.functions, names, own)
    with watch.on(), watch.calls(watched.closely):
        yield watch.found


@dataclass(frozen=True)
class OwnCalls:
    """Whether a call is a test cell's own.

    file: the file name of the cell's code; tree: its text
    answers: names that the notebook is to define; names: all that the notebook has
    listed: functions that an answer must not call
    """

    file: str
    tree: ast.Module
    answers: Collection[str]
    names: Mapping[str, Any]
    listed: Collection[str]

    def __call__(self, frame: FrameType) -> bool:
        """By the frame of the innermost code in the notebook's names that is running."""
        if frame.f_code.co_filename != self.file:
            return False
        call, known = self._running(frame), frame.f_globals | frame.f_locals
        return call is None or not any(self._is_answer(known.get(name)) for name in self._called(call))

    def _running(self, frame: FrameType) -> ast.Call | None:
        """The innermost call in the cell's text that a frame of it makes now."""
        line, end_line, column, end_column = [*frame.f_code.co_positions()][frame.f_lasti // 2]
        around = None
        for node in ast.walk(self.tree):  # outer nodes come first
            if (
                isinstance(node, ast.Call)
                and (node.lineno, node.col_offset) <= (line or 0, column or 0)
                and (end_line or 0, end_column or 0) <= (node.end_lineno or 0, node.end_col_offset or 0)
            ):
                around = node
        return around

    def _called(self, call: ast.Call) -> Iterator[str]:
        """Names in a call's text whose values it may call itself. Calls among its arguments have been made before."""
        yield from (name for given in (*call.args, *call.keywords) for name in _given(given))
        if isinstance(call.func, ast.Attribute) and call.func.attr in self.listed:
            yield from _given(call.func.value)  # such as `answer(x).softmax()`, where the text itself has the method
        else:
            yield from (node.id for node in ast.walk(call.func) if isinstance(node, ast.Name))

    def _is_answer(self, value: Any) -> bool:
        """Whether a value is an answer that is no function of the notebook's, or was made from one."""
        answers = [self.names[name] for name in self.answers if callable(self.names.get(name))]
        foreign = [one for one in answers if getattr(one, "__globals__", None) is not self.names]
        for _ in range(MAX_WRAPPED):
            if any(value is one or type(value) is one for one in foreign):
                return True
            inside = (getattr(value, name, None) for name in ("__wrapped__", "func", "__self__"))
            value = next((one for one in inside if one is not None), None)
        return False


def _given(node: ast.AST) -> Iterator[str]:
    """Names in an expression, but not those of which it only uses a result or an attribute."""
    if isinstance(node, ast.Name):
        yield node.id
    is_lazy = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LAZY
    if is_lazy or not isinstance(node, ast.Call | ast.Attribute):
        for child in ast.iter_child_nodes(node):
            yield from _given(child)
