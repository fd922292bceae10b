"""`student` and `reference`: objects whose attributes look like functions and call somebody's code.

    student.median(x)                           the value that came back
    student.median.inputs_after(x)              the arguments as they are after the call
    student.mix.gradients(x, y, seeds=…)        output and gradients of sum(output * seed)
    student.Layer.build(8, 2)                   construct an nn.Module, see its parameters' shapes
    student.Layer.run((8, 2), …)                construct, copy weights in by name, forward, gradients
    student.Layer.run(…, after=(x, y))          the same, after another call of the same module
    student.Layer.run(…, training=False)        the same, after `eval()`
    student.Cache.use([("append", k)], 4)       construct any class, call methods in turn, the last one's value
    student.mix.within(10**6, x, y)             the value, if no more than so many bytes were held at once
    student.table.printed(rows)                 the text that the call prints
    student.value("answer_3")                   the value of a name that is not a function

Each of them is made with a function that answers the calls: from a process in the sandbox, or from this process.
"""

from __future__ import annotations

import dataclasses
import io
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from msgspec.structs import replace

from autograder.testing.call_text import ParameterNames
from autograder.testing.comparing import arrays
from autograder.testing.shape_errors import reworded
from autograder.testing.student_errors import (
    HeldTooMuch,
    Missing,
    NotStarted,
    Raised,
    RaisedValueError,
    ReadyMade,
    Stopped,
    StudentError,
    explained,
)
from autograder.testing.tolerances import ELSEWHERE
from cellcage.protocol.calls import EVAL, Answer, Call, Failure, Gives, Instance, Kind, NoAnswer, Reply, Step, Why
from cellcage.values.arrays_codec import NAMES
from cellcage.values.codec import encode
from cellcage.values.value import Other, Record, changed, numbers, parts_of
from cellcage.values.value_type import comparable, for_caller, portable, type_of

READY_MADE = (
    "calls the ready-made `{name}`. Writing that yourself is the exercise, so this earns no points. Replace the call "
    "with steps of your own; in another cell you may compare with it."
)
# Code that is only slow cannot be told apart from code that never ends.
ENDLESS = "Does a loop never end, or does the code compute far more than the task needs?"
STOPPED = {
    Why.TOO_SLOW: f"{{text}}. {ENDLESS}",
    Why.WAITED: "{text}. Does the code sleep, or wait for something that never comes?",
    Why.GONE: "{text}. Does the code exit, or use far more memory than its input?",
    Why.OVER_LIMIT: "{text}, so it was stopped.",
    Why.UNREADABLE: "what came back could not be read ({text}).",
}
NO_VALUE = "the notebook has nothing under the name `{name}`, or None. Does a cell set it, and does that cell run?"
# What to pass in place of an argument that does not cross to the student's code.
DRAWS = np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random
OF_CHANCE = "pass a seed, and let the function make its generator"
OF_FILES = "pass the text in it, or the name of a file beside the notebook"
OF_FUNCTIONS = "pass each function as an argument of its own"
OF_ITERATORS = "pass a list"
OF_ANYTHING = "pass the numbers and texts that it is made of, and let the notebook make it"

Key = tuple[bytes, tuple[Any, ...]]  # a call as bytes, and the functions among its arguments


@dataclass(frozen=True)
class Gradients:
    """Output and gradients of one call; a gradient is None where nothing flows. `after`: the arguments afterwards."""

    value: Any
    inputs: list[Any]
    parameters: dict[str, object] = field(default_factory=dict)
    after: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class AnsweredCall:
    """One call and its answer."""

    call: Call
    answer: Answer

    @cached_property
    def key(self) -> Key:
        """The same for equal calls."""
        return self.call.as_bytes, tuple(filter(callable, self.call.given()))

    @cached_property
    def is_whole(self) -> bool:
        """True if the answer is a value without NaN or infinity."""
        answer = self.answer
        return isinstance(answer, Reply) and all(np.isfinite(a.astype(float)).all() for a in arrays(answer.value))


def has_chance(call: Call, answer: Answer) -> bool:
    """Whether a module has parameters that the call does not set: they start random, so the answer is random, too.

    False if the module is only built, because then only the parameters' shapes matter.
    """
    return (
        call.instance is not None
        and not call.build
        and isinstance(answer, Reply)
        and bool(answer.shapes.keys() - call.instance.parameters)
    )


Answering = Callable[[Call], Answer]


class AnsweredCalls(list[AnsweredCall]):
    """A test's answered calls, and the last one made; for messages and for the diagnosis."""

    last: Call | None = None

    def that_gave(self, got: Any) -> Call | None:
        """The call whose value is `got` or has it as a part. If there is none, the last call made, if any."""
        found = self._holding(got)
        return self.last if found is None else found[0]

    def has_elsewhere(self, got: Any, wanted: Any) -> bool:
        """Whether `wanted`, an array or a shape, is in the same reply as `got`."""
        found = self._holding(got)
        if found is None or wanted is None:
            return False
        others = [item for item in parts_of(found[1]) if hasattr(item, "shape") and not _holds(item, got)]
        if isinstance(wanted, tuple):
            return any(tuple(item.shape[-len(wanted) :]) == wanted for item in others if wanted)
        return any(item.shape == wanted.shape and np.allclose(numbers(item), wanted, atol=ELSEWHERE) for item in others)

    def _holding(self, got: Any) -> tuple[Call, Any] | None:
        for recorded in reversed(self if got is not None else []):
            if isinstance(recorded.answer, Reply) and _holds(recorded.answer.value, got):
                return recorded.call, recorded.answer.value
        return None


class Functions:
    """The functions of a student or of the reference, called through `answer`.

    Every public attribute except `calls` and `value` is one of them.
    """

    def __init__(self, answer: Answering, parameter_names: ParameterNames) -> None:
        self._answer, self._parameter_names = answer, parameter_names
        self.calls = AnsweredCalls()

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def value(self, name: str) -> Any:
        """The value of a name after all cells have run, as data."""
        return self._reply(Call(name, gives=Gives.NAME)).value

    def _reply(self, call: Call) -> Reply:
        _refuse(call)
        call = call.with_given(portable)
        self.calls.last = call
        answer = self._answer(call)
        self.calls.append(AnsweredCall(call, answer))
        if isinstance(answer, Reply):
            inputs = call.positional if answer.inputs is None else answer.inputs
            return replace(answer, value=for_caller(answer.value), inputs=for_caller(inputs))
        if isinstance(answer, Failure) and answer.kind is Kind.MISSING and call.gives is Gives.NAME:
            raise Missing(NO_VALUE.format(name=call.name))
        raise as_exception(call.name, answer)


class Function:
    """One exercise of a student."""

    def __init__(self, student: Functions, name: str) -> None:
        self._student, self.name = student, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call, as data."""
        return self._student._reply(Call(self.name, args, kwargs)).value

    def printed(self, *args: Any, **kwargs: Any) -> str:
        """The text that the call prints, up to 16,000 characters. `expect.text` compares it."""
        return cast(str, self._student._reply(Call(self.name, args, kwargs, gives=Gives.PRINTED)).value)

    def inputs_after(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The positional arguments as they are after the call."""
        return self._student._reply(Call(self.name, args, kwargs)).inputs or []

    def gradients(self, *args: Any, seeds: Sequence[Any], **kwargs: Any) -> Gradients:
        """Output, and gradients of sum(output * seed) by each floating tensor among `args`."""
        reply = self._student._reply(Call(self.name, args, kwargs, seeds=list(seeds)))
        return Gradients(reply.value, reply.gradients or [])

    def build(self, *args: Any, **kwargs: Any) -> dict[str, tuple[int, ...]]:
        """Construct an `nn.Module`; its parameters' names and shapes."""
        return self._student._reply(Call(self.name, instance=Instance(args, kwargs), build=True)).shapes

    def run(
        self,
        construct: Sequence[Any],
        parameters: Mapping[str, Any],
        *args: Any,
        seeds: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
        after: Sequence[Any] | None = None,
        training: bool = True,
        **kwargs: Any,
    ) -> Gradients:
        """Construct with `construct` and `options`, copy `parameters` in by name, run forward (and backward).

        after: arguments of an earlier call of the same module, whose result is overwritten
        training: whether the module stays as it was made; if not, its `eval()` is called first
        """
        instance = Instance(construct, options or {}, parameters)
        steps = [] if training else [Step(EVAL)]
        steps += [] if after is None else [Step("__call__", after)]
        seeds = None if seeds is None else list(seeds)
        reply = self._student._reply(Call(self.name, args, kwargs, instance, seeds, steps=steps))
        return Gradients(reply.value, reply.gradients or [], reply.parameters, reply.inputs or [])

    def use(self, steps: Sequence[tuple[Any, ...]], *args: Any, **kwargs: Any) -> Any:
        """Make an object with `args` and `kwargs`, and call its methods in turn; the value of the last.

        steps: for each a method's name and its arguments; `len` is Python's own
        """
        return self._used(steps, args, kwargs).value

    def inputs_after_use(self, steps: Sequence[tuple[Any, ...]], *args: Any, **kwargs: Any) -> list[Any]:
        """The arguments of all steps in one list, as they are afterwards."""
        return self._used(steps, args, kwargs).inputs or []

    def _used(self, steps: Sequence[tuple[Any, ...]], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Reply:
        return self._student._reply(Call(self.name, args, kwargs, steps=[Step(name, given) for name, *given in steps]))

    def within(self, memory: int, *args: Any, **kwargs: Any) -> Any:
        """The value of the call; raises `HeldTooMuch` if more than `memory` bytes were held at once.

        Python counts what NumPy and Python take. From 16 MiB on, the kernel measures a sandboxed process as well. It
        counts PyTorch's memory, and student code cannot change what it reports. Set the limit well below what a wrong
        answer takes: 24 MB where that is 64 MB.
        """
        return self._student._reply(Call(self.name, args, kwargs, memory=memory)).value


def _holds(value: Any, got: Any) -> bool:
    """Whether `got` is this value, one of its parts, or an array that shares its memory."""
    parts = parts_of(value)
    if any(got is part or for_caller(part) is got for part in (value, *parts)):
        return True
    if comparable(got) is not None:  # attributes of a frame are its columns
        return False
    return hasattr(got, "dtype") and any(np.may_share_memory(numbers(got), array) for array in arrays(parts))


def as_exception(name: str, answer: Failure | NoAnswer) -> StudentError:
    """The exception that a suite gets for an answer without a value."""
    if isinstance(answer, NoAnswer):
        late = answer.text if answer.why is Why.TOO_SLOW else ""
        return Stopped(STOPPED[answer.why].format(text=answer.text), late)
    if answer.kind is Kind.NOT_STARTED:
        return NotStarted("not started yet.", is_own_stub=len(answer.lines) == 1)
    if answer.kind is Kind.MISSING:
        return Missing(f"the notebook defines no `{name}`. Was its cell deleted, renamed, or did it fail?")
    if answer.kind is Kind.MEMORY:
        return HeldTooMuch(float(answer.text))
    if answer.kind is Kind.READY_MADE:
        return ReadyMade("calls a ready-made function.")
    if answer.kind is Kind.NO_PARAMETER:
        return Raised(f"{answer.text}. Are the layers kept as members under the names the exercise gives?")
    where = "".join(f" In {line.function}, line {line.number}: `{line.text.strip()}`." for line in answer.lines)
    types = answer.types or (answer.error,)
    # The same exception in the same line is one reason, whatever sizes its text has.
    reason = f"{answer.error} {answer.lines[-1]}" if answer.lines else ""
    cls = RaisedValueError if "ValueError" in (answer.error, *types) else Raised
    return cls(reworded(explained(answer.error, answer.text)) + where, types, reason)


# ---------------------------------------------------------------- refused arguments


def _refuse(call: Call) -> None:
    """Raise `TypeError` for an argument that the student's code would not get as it is."""
    for value in call.given():
        if hasattr(value, "named_parameters"):
            _refuse_trainable(call, value)
        elif not callable(value):  # a function is called across the boundary
            changed(value, lambda item: _refused(call, item))


def _refuse_trainable(call: Call, module: Any) -> None:
    """Only a module's outputs would cross, so it cannot be trained."""
    if any(weight.requires_grad for weight in module.parameters()):
        raise TypeError(
            f"{call.name} gets a {type(module).__name__} with trainable weights, and training does not cross to the "
            "student's code; pass its state_dict() and let the notebook make the module, or, if it is only "
            "called, pass it after requires_grad_(False)"
        )


def _refused(call: Call, item: Any) -> Any:
    """The item itself, if it crosses the boundary."""
    is_plain = isinstance(item, np.ndarray | np.generic) and item.dtype in NAMES
    if is_plain or type(item) in (Other, Record) or _crosses(item):
        return item
    kind = type(item).__name__
    named = (
        f"an array of {item.dtype}" if isinstance(item, np.ndarray) else f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
    )
    raise TypeError(f"{call.name} gets {named}, which cannot be passed to the student's code; {_instead(item)}")


def _crosses(item: Any) -> bool:
    data = encode(item)
    if not isinstance(data, list) or data[0] not in ("other", "record"):
        return True
    # An object arrives as its public data, so one that is more than data would not be what it is here.
    is_data = dataclasses.is_dataclass(item) or isinstance(item, SimpleNamespace) or not _methods(type(item))
    return data[0] == "record" and is_data


def _methods(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name, None))]


def _instead(item: Any) -> str:
    torch = sys.modules.get("torch")
    if isinstance(item, DRAWS) or (torch is not None and isinstance(item, torch.Generator)):
        return OF_CHANCE
    if isinstance(item, io.IOBase):
        return OF_FILES
    if callable(item):
        return OF_FUNCTIONS
    if hasattr(item, "__next__"):
        return OF_ITERATORS
    return "pass another one" if type_of(item) or isinstance(item, np.ndarray) else OF_ANYTHING
