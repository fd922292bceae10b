"""`student` and `reference`: objects whose attributes look like functions and lead to somebody's code.

    student.softmax(x)                          the value that came back
    student.softmax.inputs_after(x)             what the arguments look like after the call
    student.attend.gradients(q, k, v, seeds=…)  output and gradients of sum(output * seed)
    student.MultiHeadAttention.build(8, 2)      construct an nn.Module, see its parameters' shapes
    student.MultiHeadAttention.run((8, 2), …)   construct, copy weights in by name, forward, gradients

Who answers is decided by a function behind: a process behind the wall, or this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.in_words import told
from autograder.sandbox.protocol.calls import Answer, Call, Failure, Instance, Kind, NoAnswer, Reply, Why
from autograder.text import raised

READY_MADE = (
    "calls the ready-made {name}. Writing it is the exercise, so this earns no points; "
    "torch.softmax, matmul and einsum are fine. A self-check in another cell may use it."
)
STOPPED = {
    Why.TOO_SLOW: "{text}. Is there a loop that never ends?",
    Why.GONE: "{text}. Does the code exit, or use far more memory than its input?",
    Why.UNREADABLE: "what came back could not be read ({text}).",
}


class StudentError(Exception):
    """The student's code gave no value to judge; the text is the message for the report."""


class NotStarted(StudentError):
    """The stub is untouched. `its_own` is set if the exercise itself says so, and nothing that it calls."""

    its_own = False


class Missing(StudentError):
    """The name is not defined in the notebook."""


class Raised(StudentError):
    """The student's code raised an exception."""


class RaisedValueError(Raised, ValueError):
    """The student's code raised a ValueError, as some exercises ask."""


class Stopped(StudentError):
    """A call did not return in time, or ended its process."""


class ReadyMade(StudentError):
    """The student's code called what it should write."""


@dataclass(frozen=True)
class Gradients:
    """Output and gradients of one call; a gradient is None where nothing flows. `after`: the arguments afterwards."""

    value: Any
    inputs: list[Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    after: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Recorded:
    """One call and its answer."""

    call: Call
    answer: Answer


class Student:
    """Somebody's names, called through `answer`. Remembers its calls, for messages and for diagnosis."""

    def __init__(self, answer: Callable[[Call], Answer], parameter_names: Callable[[str], Sequence[str]]) -> None:
        self._answer = answer
        self._parameter_names = parameter_names
        self.last_call = ""
        self.calls: list[Recorded] = []

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def _reply(self, call: Call, text: str) -> Reply:
        self.last_call = text
        answer = self._answer(call)
        self.calls.append(Recorded(call, answer))
        if isinstance(answer, Reply):
            return answer
        raise as_exception(call.name, answer)


class Function:
    """One exercise of a student."""

    def __init__(self, student: Student, name: str) -> None:
        self._student = student
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call, as data."""
        return self._reply(Call(self.name, args, kwargs)).value

    def inputs_after(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The positional arguments as they are after the call."""
        return self._reply(Call(self.name, args, kwargs)).inputs

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
        **kwargs: Any,
    ) -> Gradients:
        """Construct with `construct` and `options`, copy `parameters` in by name, run forward (and backward)."""
        made = Instance(construct, options or {}, parameters)
        reply = self._reply(Call(self.name, args, kwargs, made, None if seeds is None else list(seeds)))
        return Gradients(reply.value, reply.gradients or [], reply.parameters, reply.inputs)

    def _reply(self, call: Call) -> Reply:
        return self._student._reply(call, self._text(call))

    def _text(self, call: Call) -> str:
        """`softmax(x, axis=0) with x (4, 5)`: a call as a person would write it down."""
        names = self._student._parameter_names
        if call.instance is None:
            return _call_text(call.args, call.kwargs, names(self.name), self.name)
        made = _call_text(call.instance.args, call.instance.kwargs, names(self.name), self.name)
        return made if call.build else made + _call_text(call.args, call.kwargs, names(f"{self.name}.forward"), "")


def _call_text(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> str:
    labels = [names[i] if i < len(names) else f"argument {i + 1}" for i in range(len(args))]
    written, shapes = [], []
    for label, value, keyword in [
        *zip(labels, args, [False] * len(args), strict=True),
        *((k, v, True) for k, v in kwargs.items()),
    ]:
        if hasattr(value, "shape"):
            written.append(f"{label}={label}" if keyword else label)
            shapes.append(f"{label} {tuple(value.shape)}")
        elif callable(value) or isinstance(value, dict):  # a model of the suite's, or its numbers: too much to say
            written.append(f"{label}={label}" if keyword else label)
        else:
            written.append(f"{label}={value!r}" if keyword or names else repr(value))
    text = f"{function}({', '.join(written)})"
    return text + (f" with {', '.join(shapes)}" if shapes else "")


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
    if answer.kind is Kind.READY_MADE:
        return ReadyMade(READY_MADE.format(name=answer.text[:60]))
    if answer.kind is Kind.NO_PARAMETER:
        return Raised(f"{answer.text}. Are the layers kept as members under the names the exercise gives?")
    where = "".join(f" In {line.function}, line {line.number}: `{line.text.strip()}`." for line in answer.lines)
    cls = RaisedValueError if answer.error == "ValueError" else Raised
    return cls(told(raised(answer.error, answer.text)) + where)
