"""`student` and `reference`: objects whose attributes look like functions and lead to somebody's code.

    student.median(x)                           the value that came back
    student.median.inputs_after(x)              what the arguments look like after the call
    student.mix.gradients(x, y, seeds=…)        output and gradients of sum(output * seed)
    student.Layer.build(8, 2)                   construct an nn.Module, see its parameters' shapes
    student.Layer.run((8, 2), …)                construct, copy weights in by name, forward, gradients
    student.Layer.run(…, after=(x, y))          the same, with another call of the same module before
    student.Layer.run(…, training=False)        the same, after `eval()`
    student.Cache.use([("append", k)], 4)       construct any class, call methods in turn, what the last one gives
    student.mix.within(10**6, x, y)             the value, if no more than so many bytes were held at once
    student.roll.draws(6000, 2, rng=RNG)        a sample, see `expect.sample`
    student.table.printed(rows)                 the text that the call prints
    student.save.files(rows)                    what it writes, into an empty folder: contents by name
    student.plot.figure(rows)                   what it draws with matplotlib: words and numbers
    student.quiz.typed("3", "yes").printed()    any of these, with lines that `input()` reads
    student.value("answer_3")                   what stands under a name that is no function

Who answers is decided by a function behind: a process in the sandbox, or this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import EVAL, Answer, Call, Failure, Instance, Kind, NoAnswer, Reply, Step, Why
from autograder.sandbox.protocol.kinds import Gives
from autograder.sandbox.protocol.of_pandas import for_suite, is_of_pandas, without_pandas
from autograder.sandbox.protocol.tables import Table
from autograder.testing.call_text import ParameterNames as ParameterNames
from autograder.testing.call_text import as_written as as_written
from autograder.testing.chance import Chances, Draws
from autograder.testing.comparing import numbers
from autograder.testing.effects import Files, figure_of, files_of, no_input
from autograder.testing.shape_errors import told
from autograder.testing.student_errors import Forbidden as Forbidden
from autograder.testing.student_errors import HeldTooMuch as HeldTooMuch
from autograder.testing.student_errors import Missing as Missing
from autograder.testing.student_errors import NotStarted as NotStarted
from autograder.testing.student_errors import Raised as Raised
from autograder.testing.student_errors import RaisedValueError as RaisedValueError
from autograder.testing.student_errors import Stopped as Stopped
from autograder.testing.student_errors import StudentError as StudentError
from autograder.text import raised

FORBIDDEN = (
    "calls the ready-made {name}. Writing it is the exercise, so this earns no points; "
    "torch.softmax, matmul and einsum are fine. A self-check in another cell may use it."
)
STOPPED = {
    Why.TOO_SLOW: "{text}. Is there a loop that never ends?",
    Why.GONE: "{text}. Does the code exit, or use far more memory than its input?",
    Why.OVER_LIMIT: "{text}, so it was stopped.",
    Why.UNREADABLE: "what came back could not be read ({text}).",
}


NO_VALUE = "the notebook has nothing under the name `{name}`, or None. Does a cell set it, and does that cell run?"
BY_HAND = "stopped by hand"  # a cause


@dataclass(frozen=True)
class Gradients:
    """Output and gradients of one call; a gradient is None where nothing flows. `after`: the arguments afterwards."""

    value: Any
    inputs: list[Any]
    parameters: dict[str, object] = field(default_factory=dict)
    after: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Recorded:
    """One call and its answer."""

    call: Call
    answer: Answer


def has_chance(call: Call, answer: Answer) -> bool:
    """Has a module parameters that the call does not set? What they begin with is chance, each time another.

    If it is only built, their shapes are all that is asked for.
    """
    return (
        call.instance is not None
        and not call.build
        and isinstance(answer, Reply)
        and bool(answer.shapes.keys() - call.instance.parameters)
    )


class Calls(list[Recorded]):
    """A test's calls that were answered, and the last one made; for messages and for diagnosis."""

    last: Call | None = None

    def that_gave(self, got: Any) -> Call | None:
        """The call that gave `got`, or what it is a part of; the last one if that cannot be told; None before any."""
        found = self._holding(got)
        return self.last if found is None else found[0]

    def has_elsewhere(self, got: Any, wanted: Any) -> bool:
        """Is `wanted`, an array or a shape, among what came back together with `got`?"""
        found = self._holding(got)
        if found is None or wanted is None:
            return False
        others = [item for item in parts_of(found[1]) if hasattr(item, "shape") and not _holds(item, got)]
        if isinstance(wanted, tuple):
            return any(tuple(item.shape[-len(wanted) :]) == wanted for item in others if wanted)
        return any(item.shape == wanted.shape and np.allclose(numbers(item), wanted, atol=1e-3) for item in others)

    def _holding(self, got: Any) -> tuple[Call, Any] | None:
        """The last call whose value holds `got`, and that value."""
        for one in reversed(self if got is not None else []):
            if isinstance(one.answer, Reply) and _holds(one.answer.value, got):
                return one.call, one.answer.value
        return None


class Student:
    """Somebody's names, called through `answer`. Every public attribute but `calls` and `value` is one of them."""

    def __init__(self, answer: Callable[[Call], Answer], parameter_names: ParameterNames) -> None:
        self._answer = answer
        self._parameter_names, self._chances = parameter_names, Chances()
        self.calls = Calls()

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def value(self, name: str) -> Any:
        """What stands under a name once all cells have run, as data. A figure or axes are described, see `figure`."""
        return self._reply(Call(name, gives=Gives.NAME)).value

    def _reply(self, call: Call) -> Reply:
        call = self._chances.into(call)
        if has_pandas := "pandas" in sys.modules:
            call = call.with_given(without_pandas)
        self.calls.last = call
        answer = self._answer(call)
        self.calls.append(Recorded(call, answer))
        if isinstance(answer, Reply):
            answer = replace(answer, inputs=call.positional if answer.inputs is None else answer.inputs)
            if has_pandas:
                return replace(answer, value=for_suite(answer.value), inputs=for_suite(answer.inputs))
            return answer
        if isinstance(answer, Failure) and answer.kind is Kind.MISSING and call.gives is Gives.NAME:
            raise Missing(NO_VALUE.format(name=call.name))
        raise as_exception(call.name, answer)


class Function(Draws):
    """One exercise of a student."""

    def __init__(self, student: Student, name: str, lines: Sequence[str] | None = None) -> None:
        self._student, self._lines = student, lines
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call, as data."""
        return self._given(Gives.VALUE, args, kwargs)

    def typed(self, *lines: str) -> Function:
        """The same function, with lines that `input()` reads while it runs.

        Who asks for more than there are is told so. What `input` asks is printed nowhere.
        """
        return Function(self._student, self.name, lines)

    def printed(self, *args: Any, **kwargs: Any) -> str:
        """The text that the call prints, up to 16,000 characters. `expect.text` compares it."""
        text: str = self._given(Gives.PRINTED, args, kwargs)
        return text

    def files(self, *args: Any, **kwargs: Any) -> Files:
        """What the call writes: contents by name, a text or else bytes.

        It runs in a folder of its own, with the files that lie beside the notebook and no others. Those it may read. Up
        to 64 files of 4 MB in all come back, without links and without what is hidden. A test asks the reference the
        same whatever a student answers: while a submission is judged, nothing is written for it.
        """
        return files_of(self._given(Gives.FILES, args, kwargs))

    def figure(self, *args: Any, **kwargs: Any) -> Any:
        """What the call draws with matplotlib: the figure that it gives back, or else leaves open.

        `figure.axes[0]` has title, xlabel, ylabel, xscale, yscale, legend, texts, lines, points, bars, images, wedges;
        `lines[0]` has label, x and y, and so have points; `bars[0]` has at, height, bottom, names and horizontal.
        `expect.figure` compares two.
        """
        return figure_of(self._given(Gives.FIGURE, args, kwargs))

    def _given(self, gives: Gives, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self._reply(Call(self.name, args, kwargs, gives=gives, typed=self._lines)).value

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

        after: arguments of a call of the same module before
        training: does the module stay as it was made, or is its `eval()` called before?
        """
        made = Instance(construct, options or {}, parameters)
        before = [] if training else [Step(EVAL)]
        before += [] if after is None else [Step("__call__", after)]
        seeds = None if seeds is None else list(seeds)
        reply = self._reply(Call(self.name, args, kwargs, made, seeds, steps=before))
        return Gradients(reply.value, reply.gradients or [], reply.parameters, reply.inputs or [])

    def use(self, steps: Sequence[tuple[Any, ...]], *args: Any, **kwargs: Any) -> Any:
        """Make an object with `args` and `kwargs`, call its methods in turn; the value of the last.

        steps: for each a method's name and its arguments; `len` is Python's own
        """
        return self._reply(_using(self.name, steps, args, kwargs)).value

    def inputs_after_use(self, steps: Sequence[tuple[Any, ...]], *args: Any, **kwargs: Any) -> list[Any]:
        """The arguments of all steps, one after the other, as they are afterwards."""
        return self._reply(_using(self.name, steps, args, kwargs)).inputs or []

    def within(self, memory: int, *args: Any, **kwargs: Any) -> Any:
        """The value of the call; raises `HeldTooMuch` if more than `memory` bytes were held at once.

        Python counts what NumPy and Python take. From 16 MiB on a sandboxed process is measured from outside, too: by
        the kernel, which counts PyTorch's memory, and which student code cannot change. Let the limit lie well below
        what a wrong answer takes, 24 MB where that is 64 MB.
        """
        return self._reply(Call(self.name, args, kwargs, memory=memory)).value

    def _reply(self, call: Call) -> Reply:
        reply: Reply = self._student._reply(call)
        return reply


def _using(name: str, steps: Sequence[tuple[Any, ...]], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    return Call(name, args, kwargs, steps=[Step(method, given) for method, *given in steps])


def names_of(student: Student) -> ParameterNames:
    """How its messages call a function's parameters."""
    return student._parameter_names


def answers_of(student: Student) -> Callable[[Call], Answer]:
    """Who answers behind its names."""
    return student._answer


def parts_of(value: Any) -> list[Any]:
    """What an answer has in it: of a tuple, a list or a dict each value, else the one."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def _holds(value: Any, got: Any) -> bool:
    """Is `got` this value, one of its parts, or an array that looks at the same numbers in memory?"""
    parts = parts_of(value)
    if any(got is part or (type(part) is Table and part.made is got) for part in (value, *parts)):
        return True
    if is_of_pandas(got):  # whose attributes are its columns
        return False
    arrays = [numbers(part) for part in parts if hasattr(part, "dtype")]
    return hasattr(got, "dtype") and any(np.may_share_memory(numbers(got), array) for array in arrays)


def as_exception(name: str, answer: Failure | NoAnswer) -> StudentError:
    """An answer that is no reply, as what a suite meets."""
    if isinstance(answer, NoAnswer):
        return Stopped(STOPPED[answer.why].format(text=answer.text))
    if answer.kind is Kind.NOT_STARTED:
        untouched = NotStarted("not started yet.")
        untouched.its_own = len(answer.lines) == 1
        return untouched
    if answer.kind is Kind.MISSING:
        return Missing(f"the notebook defines no `{name}`. Was its cell deleted, renamed, or did it fail?")
    if answer.kind is Kind.MEMORY:
        return HeldTooMuch(float(answer.text))
    if answer.kind is Kind.NO_INPUT:
        return Raised(no_input(int(answer.text)))
    if answer.kind is Kind.FORBIDDEN:
        return Forbidden(FORBIDDEN.format(name=answer.text[:60]))
    if answer.kind is Kind.NO_PARAMETER:
        return Raised(f"{answer.text}. Are the layers kept as members under the names the exercise gives?")
    where = "".join(f" In {line.function}, line {line.number}: `{line.text.strip()}`." for line in answer.lines)
    cls = RaisedValueError if "ValueError" in (answer.error, *answer.types) else Raised
    error = cls(told(raised(answer.error, answer.text)) + where)
    error.types = answer.types or (answer.error,)
    # Whatever the sizes: the same exception in the same line.
    error.cause = f"{answer.error} {answer.lines[-1]}" if answer.lines else ""
    return error
