"""Requests across the sandbox's boundary, and their answers: a `Call`, and a `Reply`, a `Failure` or a `NoAnswer`.

The same four serve in both directions: your side calls untrusted code, and untrusted code may ask the trusted side (see
`calling.proxy`). Only this module turns them into bytes and back.
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from cellcage.protocol import frames
from cellcage.values.codec import decode, encode
from cellcage.wire import WireError

MAX_ERROR_TEXT = 400  # characters of an exception's text
MAX_LINES = 3  # of a traceback
# Bytes from which on the kernel counts a call's memory, too. Below this its count says little: it includes pages of the
# libraries' own code, which count as soon as they are used.
MEASURED = 16 * 2**20
MAX_TYPES = 8  # of an exception: its class and the classes that this is derived from
Made = TypeVar("Made", "Call", "Instance")


class Kind(Enum):
    """How a call failed."""

    RAISED = "raised"  # the code raised an exception
    NOT_STARTED = "not started"  # it raised NotImplementedError itself: a stub
    MISSING = "missing"  # there is no such name
    NO_PARAMETER = "no parameter"  # the caller sets a parameter that the module does not have
    NOTICED = "noticed"  # it called a function that is watched for; the text is its name, as listed
    REFUSED = "refused"  # the question is not allowed
    MEMORY = "memory"  # it allocated more at once than it may; the text is how many bytes


class Why(Enum):
    """Why there is no answer."""

    TOO_SLOW = "too slow"
    WAITED = "waited"
    GONE = "gone"  # the process ended
    OVER_LIMIT = "over limit"  # the fork server ended the process; the text says which limit it met
    UNREADABLE = "unreadable"  # the answer did not have the agreed form


class Gives(Enum):
    """What a reply has as its value."""

    VALUE = "value"  # what the call returns
    NAME = "name"  # the name's own value; nothing is called
    PRINTED = "printed"  # the text that it prints


class Instance(Struct, frozen=True):
    """How an `nn.Module` is made: constructor arguments, and values that are copied into its parameters by name."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


LEN = "len"  # a step that calls Python's built-in `len`
EVAL = "eval"  # a step that ends a module's training mode


class Step(Struct, frozen=True):
    """One call of a method, or of `LEN`."""

    method: str
    args: Sequence[Any] = ()


class Call(Struct, frozen=True, dict=True):
    """One call of a function, of an `nn.Module` that is made for it, or of a class whose object is then used.

    name: of the function or class; args, kwargs: its arguments
    instance: for a module, how it is made; with `build`, the module is made and not called
    seeds: a seed for each tensor of the output; the reply then has gradients of sum(output * seed), too
    lenient: `.view` falls back to `.reshape` if the numbers are not contiguous, and dropout drops nothing
    steps: for a class, methods that are called in order on its object; the value is what the last one returns. For a
        module, methods that are called before the module itself, and whose results are then overwritten
    memory: how many bytes may be allocated at once, beside the arguments; None for all that the sandbox has
    gives: what the reply has as its value
    sent: `encode(positional)` if the call came as bytes and no argument was changed since
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
    gives: Gives = Gives.VALUE
    sent: Any = None

    @property
    def positional(self) -> list[Any]:
        """The arguments that a reply reports in `inputs`: `args`, or those of all steps if a class is used."""
        used = self.steps and self.instance is None
        return [value for step in self.steps for value in step.args] if used else list(self.args)

    @property
    def is_alone(self) -> bool:
        """Whether it is made by itself, since the kernel counts its memory, too."""
        return self.memory is not None and self.memory >= MEASURED

    def given(self) -> list[Any]:
        """Every argument, including the constructor's and those of steps."""
        made = self.instance or Instance()
        of_steps = [value for step in self.steps for value in step.args]
        return [*self.args, *self.kwargs.values(), *made.args, *made.kwargs.values(), *of_steps]

    @cached_property
    def as_bytes(self) -> bytes:
        """The call as bytes. Made once, since an argument may change later."""
        made = self.instance
        packed = _Call(
            self.name,
            encode(list(self.args)),
            encode(dict(self.kwargs)),
            None if made is None else tuple(map(encode, (list(made.args), dict(made.kwargs), dict(made.parameters)))),
            None if self.seeds is None else encode(list(self.seeds)),
            self.build,
            self.lenient,
            [(step.method, encode(list(step.args))) for step in self.steps],
            self.memory,
            self.gives,
        )
        return frames.body(_CallMessage(packed))

    def with_given(self, change: Callable[[Any], Any]) -> Call:
        """The same call with every argument changed; this object if none changes."""
        given = self.given()
        if all(map(operator.is_, map(change, given), given)):
            return self

        def changed(made: Made) -> Made:
            kwargs = {key: change(value) for key, value in made.kwargs.items()}
            return replace(made, args=[*map(change, made.args)], kwargs=kwargs)

        steps = [Step(step.method, [*map(change, step.args)]) for step in self.steps]
        return replace(changed(self), steps=steps, instance=self.instance and changed(self.instance), sent=None)


class Reply(Struct, frozen=True):
    """What a call returned. A gradient is None if the output does not depend on that input.

    inputs: the call's `positional` arguments afterwards; None if they are unchanged
    gradients: by the positional arguments; parameters: gradients by a module's parameters, by name
    shapes: of a module's parameters, by name
    dropped: whether a dropout was on
    """

    value: Any
    inputs: list[Any] | None = field(default_factory=list)
    gradients: list[Any] | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dropped: bool = False


class Line(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A line of untrusted code in an exception's traceback."""

    function: str
    number: int
    text: str


class Failure(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A call that returned no value.

    error: the exception's name, which is on a short list or the name of a class that the notebook defines
    lines: of the traceback, those in the notebook's code
    types: names of the exception's class and of the classes that it is derived from
    """

    kind: Kind
    text: str = ""
    error: str = ""
    lines: tuple[Line, ...] = ()
    types: tuple[str, ...] = ()


class NoAnswer(Struct, frozen=True):
    """A call that got no answer; the text is one sentence."""

    why: Why
    text: str


Answer = Reply | Failure | NoAnswer
Ask = Callable[[Call], Reply | Failure]  # sends a question to the other side


# ---------------------------------------------------------------- bytes

# On the wire, all of these are lists in this order. Fields of type `Any` are tagged lists, which `codec` reads within
# its limits.


class _Call(Struct, array_like=True, forbid_unknown_fields=True):
    name: str
    args: Any
    kwargs: Any
    instance: tuple[Any, Any, Any] | None
    seeds: Any
    build: bool
    lenient: bool
    steps: list[tuple[str, Any]]
    memory: int | None
    gives: Gives = Gives.VALUE


class _CallMessage(Struct):
    call: _Call


class _Reply(Struct, array_like=True, forbid_unknown_fields=True):
    value: Any
    inputs: Any
    gradients: Any
    parameters: Any
    shapes: Any
    dropped: bool = False


class _AnswerMessage(Struct, omit_defaults=True):
    failure: Failure | UnsetType = UNSET
    reply: _Reply | UnsetType = UNSET


def call_of(body: bytes) -> Call:
    """The call in a message. Raises `WireError` if there is none, whatever the bytes are."""
    packed = frames.parse(body, _CallMessage, "a call").call
    with _only_wire_errors("a call"):
        made = packed.instance
        return Call(
            packed.name,
            _decoded(packed.args, list),
            _by_name(packed.kwargs),
            made and Instance(_decoded(made[0], list), _by_name(made[1]), _by_name(made[2])),
            None if packed.seeds is None else _decoded(packed.seeds, list),
            packed.build,
            packed.lenient,
            [Step(method, _decoded(args, list)) for method, args in packed.steps],
            packed.memory,
            packed.gives,
            None if packed.steps else packed.args,
        )


def answer_bytes(answer: Reply | Failure) -> bytes:
    """An answer as it crosses the sandbox's boundary."""
    if isinstance(answer, Failure):
        return frames.body(_AnswerMessage(_shortened(answer)))
    shapes = {name: list(shape) for name, shape in answer.shapes.items()}
    parts = answer.value, answer.inputs, answer.gradients, answer.parameters, shapes
    value, inputs, gradients, parameters, sizes = map(encode, parts)
    return frames.body(_AnswerMessage(reply=_Reply(value, inputs, gradients, parameters, sizes, answer.dropped)))


def sendable(answer: Reply | Failure) -> bytes:
    """The answer as bytes; a failure if it cannot be encoded."""
    try:
        return answer_bytes(answer)
    except Exception as error:
        return answer_bytes(Failure(Kind.RAISED, str(error), type(error).__name__))


def answer_of(body: bytes) -> Reply | Failure:
    """The answer in a message. Raises `WireError` if there is none, whatever the bytes are."""
    message = frames.parse(body, _AnswerMessage, "an answer")
    with _only_wire_errors("an answer"):
        if not isinstance(failure := message.failure, UnsetType):
            if failure.kind is Kind.MEMORY and not re.fullmatch("[0-9]{1,15}", failure.text):
                raise WireError("not a number")
            return _shortened(failure)
        if not isinstance(packed := message.reply, UnsetType):
            shapes = {name: _shape(sizes) for name, sizes in _by_name(packed.shapes).items()}
            inputs = None if packed.inputs is None else _decoded(packed.inputs, list)
            gradients = None if packed.gradients is None else _decoded(packed.gradients, list)
            return Reply(decode(packed.value), inputs, gradients, _by_name(packed.parameters), shapes, packed.dropped)
    raise WireError("not an answer")


def _shortened(failure: Failure) -> Failure:
    lines = tuple(Line(line.function[:80], line.number, line.text[:160]) for line in failure.lines[-MAX_LINES:])
    types = tuple(name[:80] for name in failure.types[:MAX_TYPES])
    return Failure(failure.kind, failure.text[:MAX_ERROR_TEXT], failure.error[:40], lines, types)


@contextlib.contextmanager
def _only_wire_errors(what: str) -> Iterator[None]:
    """Whatever the values in a message are, only `WireError` is raised."""
    try:
        yield
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise WireError(f"not {what} ({type(error).__name__})") from None


def _shape(data: Any) -> tuple[int, ...]:
    if type(data) is not list or any(type(size) is not int or size < 0 for size in data):
        raise WireError("not a shape")
    return tuple(data)


def _decoded(data: Any, kind: type) -> Any:
    """An encoded value. Raises `WireError` if it is not of this type."""
    value = decode(data)
    if type(value) is not kind:
        raise WireError(f"not a {kind.__name__}")
    return value


def _by_name(data: Any) -> dict[str, object]:
    """Encoded values by name."""
    found: dict[str, object] = _decoded(data, dict)
    if any(type(key) is not str for key in found):
        raise WireError("not named values")
    return found
