"""What student code may ask while one of its calls runs, and our answers.

Two things stay in the judge, or in the kernel of a student who checks: the reference behind names that are judged
elsewhere (follow-through), and functions that a suite passes as arguments, such as a small model. Student code calls
both across the sandbox's boundary.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from itertools import zip_longest
from typing import Any

import numpy as np
from msgspec.structs import replace

from cellcage.calling.perform import perform
from cellcage.notebook_calls import NoQuestions, Terms
from cellcage.protocol.calls import Call, Failure, Gives, Instance, Kind, Reply
from cellcage.protocol.messages import Proxy
from cellcage.values.codec import Handle
from cellcage.values.value import HOLDS, is_tensor, items_in
from cellcage.values.value_type import comparable, leaves

MAX_QUESTIONS = 1500  # in one call; an honest one asks a few, or once for each block of a long text
MAX_SECONDS = 20.0  # of our time for all answers to a submission; an honest one takes a tenth of a second
# The student chooses a question's sizes, we do the work. These limits are far above what a suite's calls lead to, and
# still mean at most some 100 MiB and a second for the reference. Kind, axes and size are checked first.
MAX_SIZE = 5200  # of an axis or a number; tables of 4,096 or 5,000 entries are common, so suites ask for a little more
MAX_AXES = 8
MAX_ITEMS = 2**17
MAX_TEXT = 100  # characters; the course's functions take none, PyTorch's may name a mode
MAX_NUMBERS = 16
MAX_RESULT = 36_000_000  # items of the largest thing that sizes and shapes together could make
MAX_WEIGHTS = 2**26  # items of a module's weights, guessed from above: the product of its sizes, times the largest


class Questions(NoQuestions):
    """What one exercise may ask: the reference behind `proxies`, and the functions that the current call passes.

    names: the reference's
    array_functions: the exercises that their tests call with arrays
    """

    def __init__(
        self, names: Mapping[str, Any], proxies: tuple[str, ...] = (), array_functions: Collection[str] = ()
    ) -> None:
        self._names, self._array_functions = names, array_functions
        self.substituted = tuple(_proxy(name, names[name]) for name in proxies if callable(names.get(name)))
        self.asked: set[str] = set()
        self._callables: dict[str, object] = {}
        self._call = Call("")
        self._left = MAX_QUESTIONS
        self._seconds = MAX_SECONDS

    def prepare(self, call: Call) -> Call:
        """Begin a call; returns it with handles in place of functions, as it crosses the sandbox's boundary."""
        self.begin(call)
        return call.with_given(self._handle) if passes_functions(call) else call

    def begin(self, call: Call) -> None:
        """Begin a call that passes no functions."""
        self._callables, self._left, self._call = {}, MAX_QUESTIONS, call

    def answer(self, question: Call) -> Reply | Failure:
        """The answer to a question from student code; a failure if anything is wrong with the question."""
        start = time.monotonic()
        try:
            return self._answer(question)
        except Exception as error:
            return refused(f"cannot be answered ({type(error).__name__})")
        finally:
            self._seconds -= time.monotonic() - start

    def _answer(self, question: Call) -> Reply | Failure:
        self._left -= 1
        if self._left < 0:
            return refused(f"one call asked {MAX_QUESTIONS} questions. Is there a loop that never ends?")
        if self._seconds < 0:
            return refused("too much has been asked by now")
        if not is_small(question):
            return refused("this is far more than it is meant to be asked about")
        question = replace(question, memory=None, gives=Gives.VALUE)
        if question.name in self._callables and not question.steps:
            return perform(self._callables, question)
        is_known = any(proxy.name == question.name for proxy in self.substituted)
        if question.steps or not is_known or self._would_do_pytorchs_work(question):
            return refused("is not to be asked here")
        try:
            question = question.with_given(self._without_handle)
        except KeyError:
            return refused("is about something that is not there")
        with refusing_text_as_code(question.given()):
            answer = perform(dict(self._names), question)
            # A student's own code may take a list where the reference takes an array, or the other way round.
            for change in (_as_array, _as_list) if isinstance(answer, Failure) else ():
                again = perform(dict(self._names), question.with_given(change))
                answer = replace(again, inputs=None) if isinstance(again, Reply) else answer
        if isinstance(answer, Reply):
            self.asked.add(question.name)
        return answer

    def _would_do_pytorchs_work(self, question: Call) -> bool:
        """Whether an exercise in PyTorch asks a reference that is written in NumPy.

        It is written in NumPy if its own tests call it with arrays. Numbers and lists of integers suit both.
        """
        if not in_torch(self._call) or not _has_arrays(question.given()):
            return False
        return not in_torch(question) or question.name in self._array_functions

    def _without_handle(self, value: Any) -> Any:
        """The call's own function in place of its handle; raises `KeyError` if there is none."""
        return self._callables[value.key] if isinstance(value, Handle) else value

    def _handle(self, value: Any) -> Any:
        """A handle in place of a function."""
        if not callable(value):
            return value
        key = f"argument {len(self._callables) + 1}"
        self._callables[key] = value
        parameters = None
        if hasattr(value, "named_parameters"):  # an `nn.Module`
            parameters = {name: parameter.detach() for name, parameter in value.named_parameters()}
        return Handle(key, signature_names(getattr(value, "forward", value)), parameters)


def _as_array(value: Any) -> Any:
    """An array in place of a list of numbers."""
    is_one = isinstance(value, list | tuple) and value and all(map(_is_plain_number, value))
    return np.array(value) if is_one else value


def _as_list(value: Any) -> Any:
    """A list in place of an array or a tensor."""
    return value.tolist() if isinstance(value, np.ndarray) or is_tensor(value) else value


def without_reference(group: str = "") -> Terms:
    """Terms on which code may call the functions among its arguments, and no reference."""
    return Terms(Questions({}), group)


def refused(text: str) -> Failure:
    """The failure for a question that is refused."""
    return Failure(Kind.REFUSED, text, "RuntimeError")


_refuses_text = ContextVar("_refuses_text", default=False)


@contextlib.contextmanager
def refusing_text_as_code(values: Iterable[Any]) -> Iterator[None]:
    """Make `compile`, `eval` and `exec` raise `RuntimeError` for text, if there is text among a question's `values`.

    A reference may hand text on to `eval`, or to pandas' `query`. The suite's own text is harmless there, but a
    question's text is the student's choice, and the process that answers is the judge. What compiles text while it is
    imported fails as well. The question then has no answer, and the student's own code counts.
    """
    if not any(isinstance(leaf, str | bytes) and leaf for value in values for leaf in leaves(value)):
        yield
        return
    _watch_compile()
    token = _refuses_text.set(True)
    try:
        yield
    finally:
        _refuses_text.reset(token)


@functools.cache
def _watch_compile() -> None:
    """Add an audit hook; Python has no way to remove one (PEP 578)."""

    def refuse(event: str, _: Any) -> None:
        if event == "compile" and _refuses_text.get():
            raise RuntimeError("a question's text may not become a program")

    sys.addaudithook(refuse)


def passes_functions(call: Call) -> bool:
    """Whether functions or models are among a call's arguments."""
    return any(map(callable, call.given()))


def passes_arrays(call: Call) -> bool:
    """Whether a call gets arrays rather than tensors."""
    return not in_torch(call) and _has_arrays(call.given())


def in_torch(call: Call) -> bool:
    """Whether a call is about a module, or made with tensors."""
    return call.instance is not None or any(is_tensor(value) for value in call.given())


def _has_arrays(values: Iterable[Any]) -> bool:
    """Whether there is an array, a table, a tensor, or a list or the like that could be one, among `values`."""
    return any(
        isinstance(value, np.ndarray | dict)
        or comparable(value) is not None
        or is_tensor(value)
        or (isinstance(value, HOLDS) and not all(isinstance(item, int) for item in value))
        for value in values
    )


def signature_names(function: Any) -> list[str]:
    """The names of a function's parameters; empty if it has no signature to read."""
    try:
        return [name for name in inspect.signature(function).parameters if name != "self"]
    except (TypeError, ValueError):
        return []


def parameter_names(names: Mapping[str, Any], name: str) -> list[str]:
    """The names of the parameters of a function or class among `names`, or of a method, as `DecoderBlock.forward`."""
    name, _, method = name.partition(".")
    target = names.get(name)
    return signature_names(getattr(target, method, None) if method else target)


def _proxy(name: str, target: Any) -> Proxy:
    is_module = isinstance(target, type) and hasattr(target, "forward")
    return Proxy(name, is_module, tuple(signature_names(target.forward if is_module else target)))


# ---------------------------------------------------------------- what a question costs


def is_small(question: Call) -> bool:
    """Whether the reference may be run on this: no array is large, and their product is small.

    Numbers may be sizes, whatever their type, and axes of length one broadcast. So what counts is the product of all
    numbers and, aligned from the right, of the longest axes. The longest counts twice, since scores have two of a kind.
    One axis by itself, such as the positions of words, may belong to any axis of its length.
    """
    made = question.instance or Instance()
    built = [*made.args, *made.kwargs.values()]
    given = [*question.args, *question.kwargs.values()]
    values = [*built, *given, *made.parameters.values(), *(question.seeds or ())]
    if not all(_is_harmless(value) for value in values):
        return False
    weights, sizes = _sizes(built), _sizes(given)
    if len(weights) + len(sizes) > MAX_NUMBERS or math.prod(weights) * max(weights, default=1) > MAX_WEIGHTS:
        return False
    shapes = [tuple(value.shape)[::-1] for value in values if hasattr(value, "shape")]
    shapes += [_shape(value)[::-1] for value in values if isinstance(value, HOLDS) or comparable(value)]
    axes = [max(lengths) for lengths in zip_longest(*(shape for shape in shapes if len(shape) > 1), fillvalue=1)]
    alone = [shape for shape in shapes if len(shape) == 1 and shape[0] not in axes]
    axes = [max(lengths) for lengths in zip_longest(axes, *alone, fillvalue=1)]
    # The sizes that a module is built with make its weights, which are counted by their shapes. One of them may count
    # once more, unless it is a width that the arguments have already.
    times = math.prod(sizes) * max((size for size in weights if size not in axes), default=1)
    result = times * math.prod(axes) * max(axes, default=1)
    largest = max(math.prod(weights), math.prod(sizes), result)
    return bool(largest <= MAX_RESULT)


def _sizes(values: Iterable[Any]) -> list[int]:
    """Every finite number among `values`, as the size that it might be."""
    numbers = (number for value in values if (number := _number(value)) is not None)
    return [max(1, math.ceil(abs(number))) for number in numbers if math.isfinite(number)]


def _shape(value: Any) -> tuple[int, ...]:
    """The shape that NumPy could give to nested lists: the longest on each level; the axes of other values."""
    if (found := comparable(value)) is not None:
        return found[0].axes(found[1])
    if not isinstance(value, HOLDS):
        return tuple(getattr(value, "shape", ()))
    inner = [shape for item in items_in(value) if (shape := _shape(item))]
    return (len(value), *(max(lengths) for lengths in zip_longest(*inner, fillvalue=1)))


def _number(value: Any) -> float | None:
    """A value that may serve as a size, such as an array or a tensor of one number; None if it cannot."""
    if hasattr(value, "shape"):
        if math.prod(value.shape) != 1 or (value.shape and not str(value.dtype).rpartition(".")[2].startswith("int")):
            return None
        return float(value.reshape(-1)[0])
    return abs(value) if isinstance(value, complex) else value if _is_plain_number(value) else None


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_harmless(value: Any) -> bool:
    """Whether it is of an expected kind, and by itself of an ordinary size."""
    if isinstance(value, np.ndarray | np.generic) or is_tensor(value):
        shape = tuple(value.shape)
        if len(shape) > MAX_AXES or max(shape, default=1) > MAX_SIZE or math.prod(shape) > MAX_ITEMS:
            return False
        number = _number(value)
        # One number with axes around it is a size, too, unless it is NaN or infinite.
        return number is None or not math.isfinite(number) or abs(number) <= MAX_SIZE
    if comparable(value) is not None:
        return all(n < MAX_ITEMS and _is_harmless_part(part) for n, part in enumerate(leaves(value)))
    if isinstance(value, HOLDS):
        return all(number < MAX_ITEMS and _is_harmless(item) for number, item in enumerate(items_in(value)))
    if isinstance(value, str | bytes):
        return len(value) <= MAX_TEXT
    if value is None or isinstance(value, bool | Handle):
        return True
    number = _number(value)
    return number is not None and (not math.isfinite(number) or abs(number) <= MAX_SIZE)


def _is_harmless_part(part: Any) -> bool:
    """Whether a value's parts are harmless. Its numbers are data, not sizes, however large they are."""
    if isinstance(part, np.ndarray):
        return bool(part.size <= MAX_ITEMS)
    return _is_plain_number(part) or _is_harmless(part)
