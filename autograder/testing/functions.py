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

Both are made with a function that answers the calls: from a process in the sandbox, or from this process, for
`check` in a notebook and for trusted code. Here, too, arguments and values are copied as they would be across the
sandbox's boundary. Warnings are dropped, as is printed text unless somebody asks for it. Code of the course has a time
limit; a student can stop their own kernel.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import random
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from msgspec.structs import replace

from autograder.course.loading import in_time
from autograder.testing.call_text import ParameterNames
from autograder.testing.callbacks import without_reference
from autograder.testing.student_errors import Missing, as_exception
from cellcage.calling.lookups import names_used
from cellcage.calling.perform import Performer
from cellcage.notebook_calls import Terms
from cellcage.protocol.calls import (
    EVAL,
    Answer,
    Call,
    Failure,
    Gives,
    Instance,
    Kind,
    NoAnswer,
    Reply,
    Step,
    Why,
    answer_bytes,
    answer_of,
    call_of,
    sendable,
)
from cellcage.values.arrays_codec import NAMES
from cellcage.values.codec import encode
from cellcage.values.value import Other, Record, arrays, changed
from cellcage.values.value_type import for_caller, portable, type_of

NO_VALUE = "the notebook has nothing under the name `{name}`, or None. Does a cell set it, and does that cell run?"
DRAWS = np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random
# On the clock, for one call of the course's code. In the sandbox a call has 4 s of CPU time; a machine may be busy.
COURSE_SECONDS = 10.0
COURSE_SECONDS_AGAIN = 1.0  # after a call that was stopped: most likely the next ones run into the same loop
TOO_SLOW = "no answer after {seconds:g} seconds"
INTERRUPTIONS = ("KeyboardInterrupt", "SystemExit")
TERMINATED = "Terminated"  # the class of the exception that SIGTERM raises in a command

Key = tuple[bytes, tuple[Any, ...]]  # a call as bytes, and the functions among its arguments


@dataclass(frozen=True)
class Gradients:
    """A call's value and its gradients by inputs and parameters, None where nothing flows. `after`: its inputs then."""

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


class Functions:
    """The functions of a student or of the reference, called through `answer`.

    Every public attribute except `calls` and `value` is one of them.
    """

    def __init__(self, answer: Answering, parameter_names: ParameterNames) -> None:
        self._answer, self._parameter_names = answer, parameter_names
        self.calls: list[AnsweredCall] = []

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self._reply, name)

    def value(self, name: str) -> Any:
        """The value of a name after all cells have run, as data."""
        return self._reply(Call(name, gives=Gives.NAME)).value

    def _reply(self, call: Call) -> Reply:
        _refuse(call)
        call = call.with_given(portable)
        answer = self._answer(call)
        self.calls.append(AnsweredCall(call, answer))
        if isinstance(answer, Reply):
            inputs = call.positional if answer.inputs is None else answer.inputs
            return replace(answer, value=for_caller(answer.value), inputs=for_caller(inputs))
        if isinstance(answer, Failure) and answer.kind is Kind.MISSING and call.gives is Gives.NAME:
            raise Missing(NO_VALUE.format(name=call.name))
        raise as_exception(call.name, answer)


class Function:
    """One exercise of a student or of the reference."""

    def __init__(self, reply: Callable[[Call], Reply], name: str) -> None:
        self._reply, self.name = reply, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call, as data."""
        return self._reply(Call(self.name, args, kwargs)).value

    def printed(self, *args: Any, **kwargs: Any) -> str:
        """The text that the call prints, up to 16,000 characters. `expect.text` compares it."""
        return cast(str, self._reply(Call(self.name, args, kwargs, gives=Gives.PRINTED)).value)

    def inputs_after(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The positional arguments as they are after the call."""
        return self._reply(Call(self.name, args, kwargs)).inputs or []

    def gradients(self, *args: Any, seeds: Sequence[Any], **kwargs: Any) -> Gradients:
        """Output, and gradients of sum(output * seed) by each floating tensor among `args`."""
        reply = self._reply(Call(self.name, args, kwargs, seeds=list(seeds)))
        return Gradients(reply.value, reply.gradients or [])

    def build(self, *args: Any, **kwargs: Any) -> dict[str, tuple[int, ...]]:
        """Construct an `nn.Module`; its parameters' names and shapes."""
        return self._reply(Call(self.name, instance=Instance(args, kwargs), build=True)).shapes

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
        reply = self._reply(Call(self.name, args, kwargs, instance, seeds, steps=steps))
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
        return self._reply(Call(self.name, args, kwargs, steps=[Step(name, given) for name, *given in steps]))

    def within(self, memory: int, *args: Any, **kwargs: Any) -> Any:
        """The value of the call; raises `HeldTooMuch` if more than `memory` bytes were held at once.

        Python counts what NumPy and Python take. From 16 MiB on, the kernel measures a sandboxed process as well. It
        counts PyTorch's memory, and student code cannot change what it reports. Set the limit well below what a wrong
        answer takes: 24 MB where that is 64 MB.
        """
        return self._reply(Call(self.name, args, kwargs, memory=memory)).value


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
    """What to pass in place of an argument that does not cross to the student's code."""
    torch = sys.modules.get("torch")
    if isinstance(item, DRAWS) or (torch is not None and isinstance(item, torch.Generator)):
        return "pass a seed, and let the function make its generator"
    if isinstance(item, io.IOBase):
        return "pass the text in it, or the name of a file beside the notebook"
    if callable(item):
        return "pass each function as an argument of its own"
    if hasattr(item, "__next__"):
        return "pass a list"
    if type_of(item) or isinstance(item, np.ndarray):
        return "pass another one"
    return "pass the numbers and texts that it is made of, and let the notebook make it"


# ---------------------------------------------------------------- answered in this process


class Here:
    """Somebody's names in this process. It offers what a sandboxed notebook offers.

    of_course: whether the code is the course's own, which has a time limit
    """

    def __init__(self, names: dict[str, object], of_course: bool = False) -> None:
        self.names, self.of_course = names, of_course

    checks: Mapping[str, int] = {}  # there is no state but the present one
    cells: Sequence[str] = ()
    looping: Collection[str] = ()

    def at(self, place: int | None) -> None:
        """Do nothing."""

    def begin(self, terms: Terms) -> CallsHere:
        """Begin the calls of an exercise."""
        return CallsHere(self, terms)

    def uses(self, name: str, known: Sequence[str]) -> frozenset[str]:
        """The names of the notebook, or among `known`, that an exercise's code looks up."""
        return frozenset(names_used(self.names, name, known))


class CallsHere:
    """The calls of one exercise in this process."""

    printed: io.TextIOBase | None = None  # where the code's output goes, if anywhere

    def __init__(self, here: Here, terms: Terms) -> None:
        self._here, self.terms, self.questions = here, terms, terms.questions
        self.cells: Sequence[str] | None = None  # in the students' own kernel no output is secret
        self._seconds = COURSE_SECONDS if here.of_course else None

    def close(self) -> None:
        """Do nothing: no process was started."""

    def ask(
        self, calls: Sequence[tuple[Call, bytes | None]], closely: Collection[int] = ()
    ) -> Iterator[bytes | NoAnswer]:
        """An unread answer to each of `calls`, in order. The bytes of a call are not used here.

        closely: numbers of the calls that are watched closely
        """
        for number, (call, _) in enumerate(calls):
            answer = self.answer(call, number in closely)
            yield answer if isinstance(answer, NoAnswer) else sendable(answer)

    def answer(self, call: Call, closely: bool = False) -> Answer:
        """The answer to one call."""
        if self._seconds is None:
            return self._perform(call, closely)
        answer = in_time(self._seconds, lambda: self._perform(call, closely), self._too_slow)
        if isinstance(answer, Failure) and answer.error in INTERRUPTIONS:
            _raise_again(answer)
        return answer

    def _too_slow(self) -> NoAnswer:
        text = TOO_SLOW.format(seconds=self._seconds)
        self._seconds = COURSE_SECONDS_AGAIN
        return NoAnswer(Why.TOO_SLOW, text)

    def _perform(self, call: Call, closely: bool) -> Reply | Failure:
        copied = call_of(self.questions.prepare(call).as_bytes)

        def ask(question: Call) -> Reply | Failure:
            return answer_of(answer_bytes(self.questions.answer(call_of(question.as_bytes))))

        with quiet(self.printed), Performer(self._here.names, ask, self.terms.message()) as performer:
            return performer.perform(copied, closely)


def _raise_again(failure: Failure) -> None:
    """Raise an interruption of this process again. It came while the course's code ran, so that code has not failed."""
    if failure.error == "KeyboardInterrupt":
        raise KeyboardInterrupt
    if TERMINATED in failure.types:
        raise SystemExit(int(failure.text))


@contextlib.contextmanager
def quiet(printed: io.TextIOBase | None = None) -> Iterator[None]:
    """Drop the warnings of code; its output goes to `printed`, if given."""
    nowhere = io.StringIO()
    output: Any = printed or nowhere
    with warnings.catch_warnings(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def answering(names: Mapping[str, Any]) -> Answering:
    """A function that answers calls with `names` of this process, which are the course's own."""
    calls = Here(dict(names), of_course=True).begin(without_reference())

    def answer(call: Call) -> Answer:
        found = calls.answer(call)
        return found if isinstance(found, NoAnswer) else answer_of(answer_bytes(found))

    return answer
