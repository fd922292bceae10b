"""What student code may ask while one of its calls runs, and our answers.

Two things stay on this side of the wall: the reference behind names that are judged elsewhere (follow-through), and
what a suite passes as an argument that can be called, such as a small model. Both are asked for over the wall.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

from autograder.sandbox.perform import perform
from autograder.sandbox.wire import Handle

# A question's size is the student's choice, its cost ours: far above what a suite's calls lead to, and still at most
# some 100 MiB and a second for the reference.
MAX_QUESTIONS = 500
MAX_NUMBER = 512
MAX_PRODUCT = 2**22
MAX_AXIS = 256
MAX_ITEMS = 2**16
ASKED = {"name": str, "args": list, "kwargs": dict, "parameters": dict, "forward": dict | None, "cotangents": list}


class Questions:
    """The names that may be asked for, and the callables of the request under way."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self.begin(())

    def begin(self, stand_ins: tuple[str, ...]) -> None:
        """From now on the reference stands behind `stand_ins`; `asked` starts empty."""
        self.stand_ins = stand_ins
        self.asked: set[str] = set()
        self._callables: dict[str, Any] = {}
        self._left = MAX_QUESTIONS

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """`request` as it crosses the wall: handles for what can be called, and what stands behind which name."""
        self._callables, self._left = {}, MAX_QUESTIONS
        request = request | {key: self._without_callables(request[key]) for key in ("args", "kwargs")}
        if request.get("forward"):
            request["forward"] = {key: self._without_callables(value) for key, value in request["forward"].items()}
        behind = {name: _spec(self._names[name]) for name in self.stand_ins if name in self._names}
        return request | {"behind": behind} if behind else request

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The reply to a question from student code; whatever is wrong with it is an error in the reply."""
        self._left -= 1
        name, question = question.get("name"), {key: value for key, value in question.items() if key in ASKED}
        if not _is_question(question):
            return _no("is not a question")
        if self._left < 0:
            return _no(f"one call asked {MAX_QUESTIONS} questions. Is there a loop that never ends?")
        if not _is_small(question):
            return _no("this is far more than it is meant to be asked about")
        if name in self._callables:
            return perform(self._callables, question)
        if name not in self.stand_ins:
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


def _is_question(question: dict[str, Any]) -> bool:
    """Is everything in it of the kind that a request has?"""
    forward = question.get("forward") or {"args": [], "kwargs": {}}
    return (
        question.keys() >= {"name", "args", "kwargs"}
        and all(isinstance(value, ASKED[key]) for key, value in question.items())
        and isinstance(forward.get("args"), list)
        and isinstance(forward.get("kwargs"), dict)
    )


def _is_small(question: dict[str, Any]) -> bool:
    """May the reference be run on this?"""
    calls = [question, question.get("forward") or {}]
    sizes = [[*call.get("args", []), *call.get("kwargs", {}).values()] for call in calls]
    return all(map(_is_small_together, sizes)) and _is_small_data(list(question.values()))


def _is_small_together(sizes: list[Any]) -> bool:
    """Numbers that are arguments are sizes, so their product counts; numbers in a list are data, such as ids."""
    numbers = [max(1, abs(n)) for n in sizes if isinstance(n, int)]
    return len(numbers) <= 16 and math.prod(numbers) <= MAX_PRODUCT


def _is_small_data(value: Any) -> bool:
    if hasattr(value, "shape"):
        shape = tuple(value.shape)
        return max(shape, default=1) <= MAX_AXIS and math.prod(shape) <= MAX_ITEMS
    if isinstance(value, dict):
        return _is_small_data(list(value.values()))
    if isinstance(value, list | tuple):
        return len(value) <= MAX_ITEMS and all(map(_is_small_data, value))
    return abs(value) <= MAX_NUMBER if isinstance(value, int) else True


def _no(text: str) -> dict[str, Any]:
    return {"error": {"kind": "RuntimeError", "text": text, "lines": []}}
