"""What student code may ask while one of its calls runs, and our answers.

Two things stay on the supervisor's side: the reference behind names that are judged elsewhere (follow-through), and
what a suite passes as an argument that can be called, such as a small model. Both are asked for across the sandbox's
boundary.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Call, Failure, Gives, Kind, Proxy, Reply
from autograder.sandbox.protocol.tables import Table
from autograder.sandbox.protocol.values import Handle
from autograder.sandbox.sandboxed.perform import perform
from autograder.testing import forbidden
from autograder.testing.callback_cost import HOLDS, is_small
from autograder.testing.text_as_code import refusing_text_as_code

MAX_QUESTIONS = 500  # in one call; an honest one asks a few
MAX_SECONDS = 20.0  # of our time for all answers to a submission; an honest one takes a tenth of a second
# How each exercise is called by its own tests: with tensors (True), with arrays (False), with neither (None).
AskedWith = Mapping[str, frozenset[bool | None]]


class Questions:
    """What one exercise may ask: the reference behind `proxies`, and the callables of the call under way.

    names: the reference's; asked_with: see `AskedWith`
    """

    def __init__(
        self, names: Mapping[str, Any], proxies: tuple[str, ...] = (), asked_with: AskedWith | None = None
    ) -> None:
        self._names = names
        self.known = [name for name, value in names.items() if callable(value) and not name.startswith("_")]
        self._asked_with = asked_with or {}
        self.substituted = tuple(_proxy(name, names[name]) for name in proxies if callable(names.get(name)))
        self.asked: set[str] = set()
        self.forbidden: str | None = None
        self._callables: dict[str, object] = {}
        self._call = Call("")
        self._left = MAX_QUESTIONS
        self._seconds = MAX_SECONDS

    def prepare(self, call: Call) -> Call:
        """Before a call: it as it crosses the sandbox's boundary, with handles for what can be called."""
        self.begin(call)
        return call.with_given(self._without_callable) if any(map(callable, call.given())) else call

    def begin(self, call: Call) -> None:
        """Before a call that passes nothing that can be called."""
        self._callables, self._left, self.forbidden, self._call = {}, MAX_QUESTIONS, None, call

    def answer(self, question: Call) -> Reply | Failure:
        """The answer to a question from student code; whatever is wrong with it is a failure."""
        start = time.monotonic()
        try:
            return self._answer(question)
        except Exception as error:
            return _no(f"cannot be answered ({type(error).__name__})")
        finally:
            self._seconds -= time.monotonic() - start

    def _answer(self, question: Call) -> Reply | Failure:
        self._left -= 1
        if name := forbidden.name_in(question):
            self.forbidden = name
            return _no(f"{name} {forbidden.REFUSED}")
        if self._left < 0:
            return _no(f"one call asked {MAX_QUESTIONS} questions. Is there a loop that never ends?")
        if self._seconds < 0:
            return _no("too much has been asked by now")
        if not is_small(question):
            return _no("this is far more than it is meant to be asked about")
        question = replace(question, memory=None, chance=None, gives=Gives.VALUE, typed=None)
        if question.name in self._callables and not question.steps:
            return perform(self._callables, question)
        if (
            question.steps
            or question.name not in [one.name for one in self.substituted]
            or not self._is_of_its_kind(question)
        ):
            return _no("is not to be asked here")
        try:
            question = question.with_given(self._with_callable)
        except KeyError:
            return _no("is about something that is not there")
        with refusing_text_as_code(question.given()):
            answer = perform(dict(self._names), question)
        if isinstance(answer, Reply):
            self.asked.add(question.name)
        return answer

    def _is_of_its_kind(self, question: Call) -> bool:
        """Inside an exercise in PyTorch, NumPy's reference answers nothing: it would do PyTorch's work.

        Which a reference is shows in how its own tests call it. Numbers and lists of whole numbers are for both.
        """
        if not in_torch(self._call) or not _arrays(question.given()):
            return True
        return in_torch(question) and False not in self._asked_with.get(question.name, ())

    def _with_callable(self, value: Any) -> Any:
        """The call's own callable in place of its handle; raises `KeyError` for one that it does not have."""
        return self._callables[value.key] if isinstance(value, Handle) else value

    def _without_callable(self, value: Any) -> Any:
        if not callable(value):
            return value
        key = f"argument {len(self._callables) + 1}"
        self._callables[key] = value
        return Handle(key, signature_names(getattr(value, "forward", value)), _parameters(value))


def asked_with(call: Call) -> bool | None:
    """Is a call made with tensors? None if with neither tensors nor arrays."""
    return in_torch(call) if call.instance is not None or _arrays(call.given()) else None


def in_torch(call: Call) -> bool:
    """Is it about a module, or made with tensors?"""
    return call.instance is not None or any(hasattr(value, "detach") for value in call.given())


def _arrays(values: Any) -> bool:
    """Is there an array, a table, a tensor, or a list or the like that could be one, among `values`?"""
    return any(
        isinstance(value, np.ndarray | dict | Table)
        or hasattr(value, "detach")
        or (isinstance(value, HOLDS) and (_arrays(value) or not all(isinstance(item, int) for item in value)))
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
    """What a proxy must know of a reference: is it a module, and what are its parameters called?"""
    is_module = isinstance(target, type) and hasattr(target, "forward")
    return Proxy(name, is_module, tuple(signature_names(target.forward if is_module else target)))


def _parameters(value: Any) -> dict[str, object] | None:
    """An `nn.Module`'s parameters by name, else None."""
    if not hasattr(value, "named_parameters"):
        return None
    return {name: parameter.detach() for name, parameter in value.named_parameters()}


def _no(text: str) -> Failure:
    return Failure(Kind.REFUSED, text, "RuntimeError")
