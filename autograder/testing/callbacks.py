"""What student code may ask while one of its calls runs, and our answers.

Two things stay in the judge, or in the kernel of a student who checks: the reference behind names that are judged
elsewhere (follow-through), and functions that a suite passes as arguments, such as a small model. Student code calls
both across the sandbox's boundary.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
from msgspec.structs import replace

from autograder.testing.callback_cost import HOLDS, data_in, is_small, items_in
from cellcage.calling.perform import perform
from cellcage.protocol.calls import Call, Failure, Gives, Kind, Proxy, Reply
from cellcage.values.codec import Handle
from cellcage.values.value import is_tensor
from cellcage.values.value_type import comparable

MAX_QUESTIONS = 1500  # in one call; an honest one asks a few, or once for each block of a long text
MAX_SECONDS = 20.0  # of our time for all answers to a submission; an honest one takes a tenth of a second


class Questions:
    """What one exercise may ask: the reference behind `proxies`, and the functions that the current call passes.

    names: the reference's
    array_functions: the exercises that their tests call with arrays
    """

    def __init__(
        self, names: Mapping[str, Any], proxies: tuple[str, ...] = (), array_functions: Collection[str] = ()
    ) -> None:
        self._names, self._array_functions = names, array_functions
        self.known = [name for name, value in names.items() if callable(value) and not name.startswith("_")]
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
    if not any(map(_has_text, values)):
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


def _has_text(value: Any) -> bool:
    if isinstance(value, HOLDS):
        return any(map(_has_text, items_in(value)))
    if comparable(value) is not None:
        return any(map(_has_text, data_in(value)))
    return isinstance(value, str | bytes) and bool(value)


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
        or (isinstance(value, HOLDS) and (_has_arrays(value) or not all(isinstance(item, int) for item in value)))
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
