"""What is asked across the sandbox's boundary and what comes back: a `Call`, and `Reply`, `Failure` or `NoAnswer`.

The same four serve in both directions: a suite calls student code, and student code may ask (see `sandboxed.proxy`).
This is the one place where they become bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.checks import as_shape, decoded, named, nothing_else
from autograder.sandbox.protocol.frames import WireError
from autograder.sandbox.protocol.kinds import Gives as Gives
from autograder.sandbox.protocol.kinds import Kind as Kind
from autograder.sandbox.protocol.kinds import Why as Why
from autograder.sandbox.protocol.messages import Proxy as Proxy
from autograder.sandbox.protocol.values import Handle, decode, encode

MAX_WORDS = 400  # characters of an exception's text
MAX_LINES = 3
MAX_TYPES = 8  # of an exception: its own and those that it is derived from


@dataclass(frozen=True)
class Instance:
    """How an `nn.Module` is made: constructor arguments, and values copied into its parameters by name."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def packed(self) -> _Instance:
        """As it crosses the sandbox's boundary."""
        return _Instance(encode(list(self.args)), encode(dict(self.kwargs)), encode(dict(self.parameters)))


LEN = "len"  # a step that is Python's own function of that name
EVAL = "eval"  # a step of a module: from then on it is not in training


@dataclass(frozen=True)
class Step:
    """One call of a method, or `LEN`."""

    method: str
    args: Sequence[Any] = ()


@dataclass(frozen=True)
class Chance:
    """How a call draws: by `seed`, which random numbers of Python, NumPy and PyTorch then come of.

    times: how often the function is called, which makes a sample of its values; 0: once, as any call
    in_place: are its values what the first argument holds afterwards?
    rng, given: names of arguments that get a NumPy generator, or a number, another one each time
    """

    seed: int
    times: int = 0
    in_place: bool = False
    rng: str = ""
    given: str = ""


@dataclass(frozen=True)
class Call:
    """One call of a function, of an `nn.Module` that is made for it, or of a class whose object is then used.

    name: whose; args, kwargs: what it is called with
    instance: for a module, how it is made; `build` asks for no more than that
    seeds: one for each tensor of the output, or None: also gradients of sum(output * seed)
    lenient: `.view` goes on as `.reshape` if the numbers do not lie in order in memory, and a dropout drops nothing
    steps: for a class, methods called one after the other on its object; the value is what the last one gives. For a
        module, methods called before it is
    memory: how many bytes may be held at once, beside the arguments; None: as many as the sandbox has
    forbidden: is it a function that the sandbox was emptied of (see `sandboxed.removal`)? The name is that function's
    chance: how it draws, if its answer is to be a sample
    gives: what the reply has as its value
    typed: the lines that `input()` reads meanwhile; None: it is as it was
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
    forbidden: bool = False
    chance: Chance | None = None
    gives: Gives = Gives.VALUE
    typed: Sequence[str] | None = None

    @property
    def positional(self) -> list[Any]:
        """The arguments that a reply tells of: `args`, or those of the steps if it is an object that is used."""
        used = self.steps and self.instance is None
        return [value for step in self.steps for value in step.args] if used else list(self.args)

    def given(self) -> list[Any]:
        """Every argument, the constructor's and those of steps among them."""
        made = self.instance or Instance()
        of_steps = [value for step in self.steps for value in step.args]
        return [*self.args, *self.kwargs.values(), *made.args, *made.kwargs.values(), *of_steps]

    @cached_property
    def as_bytes(self) -> bytes:
        """The call as bytes. Made once, since an argument may change later."""
        packed = _Call(
            self.name,
            encode(list(self.args)),
            encode(dict(self.kwargs)),
            None if self.instance is None else self.instance.packed(),
            None if self.seeds is None else encode(list(self.seeds)),
            self.build,
            self.lenient,
            [_Step(step.method, encode(list(step.args))) for step in self.steps],
            self.memory,
            self.forbidden,
            None if self.chance is None else _Chance(**vars(self.chance)),
        )
        plain = self.gives is Gives.VALUE and self.typed is None
        typed = None if self.typed is None else list(self.typed)
        return frames.body(_CallMessage(packed, UNSET if plain else _Effect(self.gives, typed)))

    def has_handle(self) -> bool:
        """Does it pass something that stays on the side that made it?"""
        return any(isinstance(value, Handle) for value in self.given())

    def with_given(self, change: Callable[[Any], Any]) -> Call:
        """The same call with every argument changed."""

        def many(values: Sequence[Any]) -> Sequence[Any]:
            return [*map(change, values)]

        def named(values: Mapping[str, Any]) -> Mapping[str, Any]:
            return {key: change(value) for key, value in values.items()}

        made = self.instance and replace(
            self.instance, args=many(self.instance.args), kwargs=named(self.instance.kwargs)
        )
        steps = [Step(step.method, many(step.args)) for step in self.steps]
        return replace(self, args=many(self.args), kwargs=named(self.kwargs), steps=steps, instance=made)


@dataclass(frozen=True)
class Reply:
    """What a call gave. Gradients are None if nothing flows.

    inputs: the call's `positional` afterwards; None if they are what they were
    dropped: was a dropout on?
    """

    value: Any
    inputs: list[Any] | None = field(default_factory=list)
    gradients: list[Any] | None = None
    parameters: dict[str, object] = field(default_factory=dict)  # gradients by a module's parameters
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of a module's parameters
    dropped: bool = False


@dataclass(frozen=True)
class Line:
    """A line of student code that an exception went through."""

    function: str
    number: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A call that gave no value.

    error: the exception, from a short list, or a class of the notebook's; lines: the student's own
    types: the names of the exception's class and of those that it is derived from
    """

    kind: Kind
    text: str = ""
    error: str = ""
    lines: tuple[Line, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoAnswer:
    """A call from which nothing came back; the text is one sentence."""

    why: Why
    text: str


Answer = Reply | Failure | NoAnswer
Ask = Callable[[Call], Reply | Failure]  # takes a question to the other side


# ---------------------------------------------------------------- bytes

# As lists, in this order. Values are tagged lists, which `values` reads within its limits.


class _Fields(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    pass


class _Instance(_Fields):
    args: Any
    kwargs: Any
    parameters: Any

    def read(self) -> Instance:
        return Instance(decoded(self.args, list), named(self.kwargs), named(self.parameters))


class _Step(_Fields):
    method: str
    args: Any


class _Chance(_Fields):
    seed: int
    times: int
    in_place: bool
    rng: str
    given: str


class _Call(_Fields):
    name: str
    args: Any
    kwargs: Any
    instance: _Instance | None
    seeds: Any
    build: bool
    lenient: bool
    steps: list[_Step]
    memory: int | None
    forbidden: bool
    chance: _Chance | None = None


class _Effect(_Fields):
    gives: Gives
    typed: list[str] | None


class _CallMessage(msgspec.Struct, omit_defaults=True):
    call: _Call
    effect: _Effect | UnsetType = UNSET


class _Line(_Fields):
    function: str
    number: int
    text: str


class _Failure(_Fields):
    kind: Kind
    text: str
    error: str
    lines: list[_Line]
    types: list[str] = []


class _Reply(_Fields):
    value: Any
    inputs: Any
    gradients: Any
    parameters: Any
    shapes: Any
    dropped: bool = False


class _AnswerMessage(msgspec.Struct, omit_defaults=True):
    failure: _Failure | UnsetType = UNSET
    reply: _Reply | UnsetType = UNSET


def call_of(body: bytes) -> Call:
    """The call in a message. Raises `WireError` if there is none, whatever the bytes are."""
    message = frames.parse(body, _CallMessage, "a call")
    one, effect = message.call, message.effect or _Effect(Gives.VALUE, None)
    with nothing_else("a call"):
        return Call(
            one.name,
            decoded(one.args, list),
            named(one.kwargs),
            None if one.instance is None else one.instance.read(),
            None if one.seeds is None else decoded(one.seeds, list),
            one.build,
            one.lenient,
            [Step(step.method, decoded(step.args, list)) for step in one.steps],
            one.memory,
            one.forbidden,
            None if one.chance is None else Chance(**msgspec.structs.asdict(one.chance)),
            effect.gives,
            effect.typed,
        )


def answer_bytes(answer: Reply | Failure) -> bytes:
    """An answer as it crosses the sandbox's boundary."""
    if isinstance(answer, Failure):
        lines = [_Line(line.function[:80], line.number, line.text[:160]) for line in answer.lines[-MAX_LINES:]]
        types = [name[:80] for name in answer.types[:MAX_TYPES]]
        failure = _Failure(answer.kind, answer.text[:MAX_WORDS], answer.error[:40], lines, types)
        return frames.body(_AnswerMessage(failure))
    gradients = None if answer.gradients is None else encode(answer.gradients)
    shapes = encode({name: list(shape) for name, shape in answer.shapes.items()})
    inputs = None if answer.inputs is None else encode(answer.inputs)
    reply = _Reply(encode(answer.value), inputs, gradients, encode(answer.parameters), shapes, answer.dropped)
    return frames.body(_AnswerMessage(reply=reply))


def answer_of(body: bytes) -> Reply | Failure:
    """The answer in a message. Raises `WireError` if there is none, whatever the bytes are."""
    message = frames.parse(body, _AnswerMessage, "an answer")
    with nothing_else("an answer"):
        if not isinstance(message.failure, UnsetType):
            return _failure(message.failure)
        if not isinstance(message.reply, UnsetType):
            return _reply(message.reply)
    raise WireError("not an answer")


def _reply(one: _Reply) -> Reply:
    shapes = {name: as_shape(sizes) for name, sizes in named(one.shapes).items()}
    gradients = None if one.gradients is None else decoded(one.gradients, list)
    inputs = None if one.inputs is None else decoded(one.inputs, list)
    return Reply(decode(one.value), inputs, gradients, named(one.parameters), shapes, one.dropped)


def _failure(one: _Failure) -> Failure:
    if one.kind in (Kind.MEMORY, Kind.NO_INPUT) and not re.fullmatch("[0-9]{1,15}", one.text):
        raise WireError("not a number")
    lines = tuple(Line(line.function[:80], line.number, line.text[:160]) for line in one.lines[:MAX_LINES])
    types = tuple(name[:80] for name in one.types[:MAX_TYPES])
    return Failure(one.kind, one.text[:MAX_WORDS], one.error[:40], lines, types)
