"""What student code may ask while one of its calls runs, and our answers.

Two things stay on this side of the wall: the reference behind names that are judged elsewhere (follow-through), and
what a suite passes as an argument that can be called, such as a small model. Both are asked for over the wall.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.judging import ready_made
from autograder.judging.cost import ASKED, is_question, is_small
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.protocol.wire import Handle

MAX_QUESTIONS = 500
# How each exercise is called by its own tests: with tensors (True), with arrays (False), with neither (None).
AskedWith = dict[str, set[bool | None]]


class Questions:
    """The names that may be asked for, and the callables of the request under way."""

    def __init__(self, names: Mapping[str, Any], asked_with: AskedWith | None = None) -> None:
        self._names = names
        self._asked_with = {name: set(kinds) for name, kinds in (asked_with or {}).items()}
        self._in_torch = False
        self.begin(())

    def begin(self, stand_ins: tuple[str, ...]) -> None:
        """From now on the reference stands behind `stand_ins`; `asked` starts empty."""
        self.stand_ins = stand_ins
        self.behind = {name: _spec(self._names[name]) for name in stand_ins if name in self._names}
        self.asked: set[str] = set()
        self.ready_made: str | None = None
        self._callables: dict[str, Any] = {}
        self._left = MAX_QUESTIONS

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """`request` as it crosses the wall: handles for what can be called, and what stands behind which name."""
        self._callables, self._left, self.ready_made = {}, MAX_QUESTIONS, None
        self._in_torch = _in_torch(request)
        self._asked_with.setdefault(request["name"], set()).add(asked_with(request))
        request = request | {key: self._without_callables(request[key]) for key in ("args", "kwargs")}
        if request.get("forward"):
            request["forward"] = {key: self._without_callables(value) for key, value in request["forward"].items()}
        return request | {"behind": self.behind} if self.behind else request

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The reply to a question from student code; whatever is wrong with it is an error in the reply."""
        self._left -= 1
        name, question = question.get("name"), {key: value for key, value in question.items() if key in ASKED}
        if ready_made.name_in(question):
            self.ready_made = ready_made.name_in(question)
            return _no(f"{self.ready_made} {ready_made.REFUSED}")
        if not is_question(question):
            return _no("is not a question")
        if self._left < 0:
            return _no(f"one call asked {MAX_QUESTIONS} questions. Is there a loop that never ends?")
        if not is_small(question):
            return _no("this is far more than it is meant to be asked about")
        if name in self._callables:
            return perform(self._callables, question)
        if name not in self.stand_ins or not self._is_of_its_kind(question):
            return _no("is not to be asked here")
        try:
            question |= {
                "args": self._with_callables(question["args"]),
                "kwargs": self._with_callables(question["kwargs"]),
            }
        except KeyError:
            return _no("is about something that is not there")
        reply = perform(dict(self._names), question)
        if "error" not in reply:
            self.asked.add(str(name))
        return reply

    def _is_of_its_kind(self, question: dict[str, Any]) -> bool:
        """Inside an exercise in PyTorch, NumPy's reference answers nothing: it would do PyTorch's work.

        Which a reference is shows in how its own tests call it. Numbers and lists of whole numbers are for both.
        """
        given = _given(question)
        if not self._in_torch or not _arrays(given):
            return True
        return _in_torch(question) and False not in self._asked_with.get(question["name"], ())

    def _without_callables(self, values: Any) -> Any:
        if isinstance(values, dict):
            return {key: self._without_callable(value) for key, value in values.items()}
        return [self._without_callable(value) for value in values]

    def _with_callables(self, values: Any) -> Any:
        """The request's own callables in place of their handles; raises `KeyError` for one that it does not have."""
        items = values.items() if isinstance(values, dict) else enumerate(values)
        found = {key: self._callables[v.key] if isinstance(v, Handle) else v for key, v in items}
        return found if isinstance(values, dict) else list(found.values())

    def _without_callable(self, value: Any) -> Any:
        if not callable(value):
            return value
        key = f"argument {len(self._callables) + 1}"
        self._callables[key] = value
        return Handle(key, signature_names(getattr(value, "forward", value)), _parameters(value))


def _given(request: dict[str, Any]) -> list[Any]:
    forward = request.get("forward") or {"args": [], "kwargs": {}}
    return [*request["args"], *request["kwargs"].values(), *forward["args"], *forward["kwargs"].values()]


def asked_with(request: dict[str, Any]) -> bool | None:
    """Is a call made with tensors? None where with neither tensors nor arrays."""
    return _in_torch(request) if "forward" in request or _arrays(_given(request)) else None


def _in_torch(request: dict[str, Any]) -> bool:
    return "forward" in request or any(hasattr(value, "detach") for value in _given(request))


def _arrays(values: Any) -> bool:
    """Is there an array, a tensor, or a list that could be one, among `values`?"""
    return any(
        _arrays(value) or not all(isinstance(item, int) for item in value)
        if isinstance(value, list | tuple)
        else isinstance(value, np.ndarray | dict) or hasattr(value, "detach")
        for value in values
    )


def signature_names(function: Any) -> list[str]:
    """The names of a function's parameters; empty where it has no signature to read."""
    try:
        return [name for name in inspect.signature(function).parameters if name != "self"]
    except (TypeError, ValueError):
        return []


def parameter_names(names: Mapping[str, Any], name: str) -> list[str]:
    """The names of the parameters of a function or class among `names`, or of a method, as `DecoderBlock.forward`."""
    name, _, method = name.partition(".")
    target = names.get(name)
    return signature_names(getattr(target, method, None) if method else target)


def _spec(target: Any) -> dict[str, Any]:
    """What a stand-in must know of a reference: is it a module, and what are its parameters called?"""
    is_module = isinstance(target, type) and hasattr(target, "forward")
    return {"module": is_module, "order": signature_names(target.forward if is_module else target)}


def _parameters(value: Any) -> dict[str, Any] | None:
    """An `nn.Module`'s parameters by name, else None."""
    if not hasattr(value, "named_parameters"):
        return None
    return {name: parameter.detach() for name, parameter in value.named_parameters()}


def _no(text: str) -> dict[str, Any]:
    return {"error": {"kind": "RuntimeError", "text": text, "lines": []}}
