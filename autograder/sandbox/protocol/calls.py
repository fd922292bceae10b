"""What is asked across the wall and what comes back: a `Call`, and `Reply`, `Failure` or `NoAnswer`.

The same four serve in both directions: a suite calls student code, and student code may ask (see `inside.stand_in`).
This is the one place where they become bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.frames import WireError
from autograder.sandbox.protocol.values import Handle, decode, encode

MAX_WORDS = 400  # characters of an exception's text
MAX_LINES = 3


class Kind(Enum):
    """How a call failed."""

    RAISED = "raised"  # an exception of the code's own
    NOT_STARTED = "not started"  # NotImplementedError: a stub
    MISSING = "missing"  # there is no such name
    NO_PARAMETER = "no parameter"  # the module has no parameter of a name that weights came for
    READY_MADE = "ready made"  # it called what it should write; the text is the name
    REFUSED = "refused"  # a question that is not answered
    MEMORY = "memory"  # it held more at once than it may; the text is how many bytes


class Why(Enum):
    """Why no answer came."""

    TOO_SLOW = "too slow"
    GONE = "gone"  # the process ended
    OVER_LIMIT = "over limit"  # the supervisor ended it, and says for what
    UNREADABLE = "unreadable"  # what came was not of the agreed form


@dataclass(frozen=True)
class Instance:
    """How an `nn.Module` is made: constructor arguments, and values copied into its parameters by name."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


LEN = "len"  # a step that is Python's own function of that name


@dataclass(frozen=True)
class Step:
    """One call of a method, or `LEN`."""

    method: str
    args: Sequence[Any] = ()


@dataclass(frozen=True)
class Call:
    """One call of a function, of an `nn.Module` that is made for it, or of a class whose object is then used.

    name: whose; args, kwargs: what it is called with
    instance: for a module, how it is made; `build` asks for no more than that
    seeds: one for each tensor of the output, or None: also gradients of sum(output * seed)
    lenient: `.view` goes on as `.reshape` if the numbers do not lie in order in memory
    steps: for a class, methods called one after the other on its object; the value is what the last one gives. For a
        module, methods called before it is
    memory: how many bytes may be held at once, beside the arguments; None: as many as the sandbox has
    """

    name: str
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    instance: Instance | None = None
    seeds: Sequence[Any] | None = None
    build: bool = False
    lenient: bool = False
    steps: Sequence[Step] = ()
    memory: int | None = None

    def given(self) -> list[Any]:
        """Every argument, the constructor's and those of steps among them."""
        made = self.instance or Instance()
        of_steps = [value for step in self.steps for value in step.args]
        return [*self.args, *self.kwargs.values(), *made.args, *made.kwargs.values(), *of_steps]

    @cached_property
    def as_bytes(self) -> bytes:
        """It as it crosses the wall. Made once: what becomes of an argument later is not what it was called with."""
        made = self.instance
        fields = [self.name, encode(list(self.args)), encode(dict(self.kwargs))]
        fields.append(made and [encode(list(made.args)), encode(dict(made.kwargs)), encode(dict(made.parameters))])
        fields += [None if self.seeds is None else encode(list(self.seeds)), self.build, self.lenient]
        fields += [[[step.method, encode(list(step.args))] for step in self.steps], self.memory]
        return frames.body({"call": fields})

    def has_handle(self) -> bool:
        """Does it pass something that stays on the side that made it?"""
        return any(isinstance(value, Handle) for value in self.given())

    def with_given(self, change: Callable[[Any], Any]) -> Call:
        """The same call with every argument changed."""

        def changed(one: Call | Instance) -> dict[str, Any]:
            return {"args": [*map(change, one.args)], "kwargs": {key: change(v) for key, v in one.kwargs.items()}}

        made = self.instance
        steps = [Step(step.method, [*map(change, step.args)]) for step in self.steps]
        return replace(self, **changed(self), steps=steps, instance=made and replace(made, **changed(made)))


@dataclass(frozen=True)
class Reply:
    """What a call gave. `inputs` are the arguments afterwards; gradients are None if nothing flows."""

    value: Any
    inputs: list[Any] = field(default_factory=list)
    gradients: list[Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)  # gradients by a module's parameters
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of a module's parameters


@dataclass(frozen=True)
class Line:
    """A line of student code that an exception went through."""

    function: str
    number: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A call that gave no value. `error` names the exception, from a short list; `lines` are the student's own."""

    kind: Kind
    text: str = ""
    error: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class NoAnswer:
    """A call from which nothing came back; the text is one sentence."""

    why: Why
    text: str


Answer = Reply | Failure | NoAnswer
Ask = Callable[[Call], Reply | Failure]  # takes a question to the other side


@dataclass(frozen=True)
class StandIn:
    """A name that the other side answers for: a function or a module, and what its parameters are called."""

    name: str
    module: bool
    order: tuple[str, ...]


# ---------------------------------------------------------------- bytes


def call_of(body: bytes) -> Call:
    """The call in a message. Raises `WireError` if there is none, whatever the bytes are."""
    message = frames.parse(body)
    try:
        return _call(message.get("call"))
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise WireError(f"not a call ({type(error).__name__})") from None


def _call(data: Any) -> Call:
    name, args, kwargs, made, seeds, build, lenient, steps, memory = _fields(data, 9)
    if type(name) is not str or type(build) is not bool or not (made is None or type(made) is list):
        raise WireError("not a call")
    if type(steps) is not list or not (memory is None or type(memory) is int):
        raise WireError("not a call")
    instance = None
    if made is not None:
        given, options, parameters = _fields(made, 3)
        instance = Instance(_decoded(given, list), _named(options), _named(parameters))
    wanted = None if seeds is None else _decoded(seeds, list)
    used = [_step(step) for step in steps]
    return Call(name, _decoded(args, list), _named(kwargs), instance, wanted, build, lenient is True, used, memory)


def _step(data: Any) -> Step:
    method, args = _fields(data, 2)
    if type(method) is not str:
        raise WireError("not a step")
    return Step(method, _decoded(args, list))


def answer_bytes(answer: Reply | Failure) -> bytes:
    """An answer as it crosses the wall."""
    if isinstance(answer, Failure):
        lines = [[line.function[:80], line.number, line.text[:160]] for line in answer.lines[-MAX_LINES:]]
        return frames.body({"failure": [answer.kind.value, answer.text[:MAX_WORDS], answer.error[:40], lines]})
    gradients = None if answer.gradients is None else encode(answer.gradients)
    shapes = {name: list(shape) for name, shape in answer.shapes.items()}
    fields = [encode(answer.value), encode(answer.inputs), gradients, encode(answer.parameters), encode(shapes)]
    return frames.body({"reply": fields})


def answer_of(body: bytes) -> Reply | Failure:
    """The answer in a message. Raises `WireError` if there is none, whatever the bytes are."""
    message = frames.parse(body)
    try:
        return _failure(message["failure"]) if "failure" in message else _reply(message.get("reply"))
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise WireError(f"not an answer ({type(error).__name__})") from None


def _reply(data: Any) -> Reply:
    value, inputs, gradients, parameters, shapes = _fields(data, 5)
    found = {name: _shape(shape) for name, shape in _named(shapes).items()}
    of_inputs = None if gradients is None else _decoded(gradients, list)
    return Reply(decode(value), _decoded(inputs, list), of_inputs, _named(parameters), found)


def _failure(data: Any) -> Failure:
    kind, text, error, lines = _fields(data, 4)
    if not all(type(word) is str for word in (kind, text, error)) or type(lines) is not list:
        raise WireError("not a failure")
    if kind == Kind.MEMORY.value and not re.fullmatch("[0-9]{1,15}", text):
        raise WireError("not a number of bytes")
    found = tuple(_line(line) for line in lines[:MAX_LINES])
    return Failure(Kind(kind), text[:MAX_WORDS], error[:40], found)


def _line(data: Any) -> Line:
    function, number, text = _fields(data, 3)
    if type(function) is not str or type(number) is not int or type(text) is not str:
        raise WireError("not a line")
    return Line(function[:80], number, text[:160])


def _shape(data: Any) -> tuple[int, ...]:
    if type(data) is not list or any(type(size) is not int or size < 0 for size in data):
        raise WireError("not a shape")
    return tuple(data)


def _fields(data: Any, count: int) -> list[Any]:
    if type(data) is not list or len(data) != count:
        raise WireError(f"not {count} fields")
    return data


def _decoded(data: Any, kind: type) -> Any:
    value = decode(data)
    if type(value) is not kind:
        raise WireError(f"not a {kind.__name__}")
    return value


def _named(data: Any) -> dict[str, Any]:
    found: dict[str, Any] = _decoded(data, dict)
    if any(type(key) is not str for key in found):
        raise WireError("not named values")
    return found
