"""Notices calls of ready-made functions: those that the code is to do without.

Names are listed in two forms:

- a plain name, such as `softmax`: whatever PyTorch calls by it, which may be a function, a method of tensors, an
  operator, or a class of `torch.nn`;
- a path, such as `numpy.convolve`: the Python function there.

Untrusted code runs in this process and can undo the watch. Such code is visible in its cell.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Collection, Iterator, MutableMapping
from typing import Any


class Watch:
    """Notices calls of listed functions that the code in `names` makes, directly or through others.

    found: those that were called, as listed, in order, since the list was emptied
    exempt: the file name of code in `names` whose own calls do not count
    """

    def __init__(self, listed: Collection[str], names: MutableMapping[str, Any], exempt: str = "") -> None:
        self.found: list[str] = []
        self._listed, self._names, self._exempt = frozenset(listed), names, exempt

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch within the block."""
        if not self._listed:
            yield
            return
        with contextlib.ExitStack() as around:
            for path in self._listed:
                self._replace(path, around)
            if torch := sys.modules.get("torch"):
                around.callback(torch.nn.modules.module.register_module_forward_pre_hook(self._note_module).remove)
                around.enter_context(_modes()[0](self.note))
            yield

    def closely(self) -> contextlib.AbstractContextManager[object]:
        """Watch PyTorch's operators, too, within the block, which makes small ones much slower."""
        watches = self._listed and "torch" in sys.modules
        mode: contextlib.AbstractContextManager[object] = (
            _modes()[1](self.note) if watches else contextlib.nullcontext()
        )
        return mode

    def note(self, name: str) -> None:
        """Note a call if its name is listed. The name of an operator may end in `.` and an overload's name."""
        plain = name.partition(".")[0]
        if plain in self._listed:
            self._add(plain)

    def _add(self, listed: str) -> None:
        if not self._exempt or self._calling_file() != self._exempt:
            self.found.append(listed)

    def _calling_file(self) -> str:
        """The file name of the innermost code in `names` that is running."""
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_globals is not self._names:
            frame = frame.f_back
        return frame.f_code.co_filename

    def _note_module(self, module: Any, args: Any) -> None:
        for cls in type(module).__mro__:
            if cls.__module__.startswith("torch."):
                self.note(cls.__name__)

    def _replace(self, path: str, around: contextlib.ExitStack) -> None:
        """Replace the function at a path by one that notes each call, in its module and in `names`."""
        module_name, _, name = path.rpartition(".")
        module = sys.modules.get(module_name)
        original = getattr(module, name, None)
        if original is None:
            return
        noting = self._noting(path, original)
        places = [
            (vars(module), name),
            *((self._names, one) for one, value in self._names.items() if value is original),
        ]
        for place, key in places:
            place[key] = noting
            around.callback(place.__setitem__, key, original)

    def _noting(self, path: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noting(*args: Any, **kwargs: Any) -> Any:
            self._add(path)
            return function(*args, **kwargs)

        return noting


@functools.cache
def _modes() -> tuple[Any, Any]:
    """What PyTorch calls before each of its functions, and before each operator. Their argument gets the name."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

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
            return func(*args, **(kwargs or {}))

    return Functions, Operators
