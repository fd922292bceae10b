"""`student` and `reference`: objects whose attributes look like functions and lead to somebody's code.

    student.softmax(x)                          the value that came back
    student.softmax.inputs_after(x)             what the arguments look like after the call
    student.attend.gradients(q, k, v, seeds=…)  output and gradients of sum(output * seed)
    student.MultiHeadAttention.build(8, 2)      construct an nn.Module, see its parameters' shapes
    student.MultiHeadAttention.run((8, 2), …)   construct, copy weights in by name, forward, gradients

Where the code runs is decided by the `Transport` behind: a process behind the wall, or this process.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from autograder.judging.questions import Questions
from autograder.sandbox.inside.perform import perform
from autograder.sandbox.protocol import wire
from autograder.text import raised

READY_MADE = (
    "calls PyTorch's ready-made {name}. Writing it is the exercise, so this earns no points; "
    "torch.softmax, matmul and einsum are fine. A self-check in another cell may use it."
)


class StudentError(Exception):
    """The student's code gave no value to judge; the text is the message for the report."""


class NotStarted(StudentError):
    """The stub is untouched. `its_own` is set where the exercise itself says so, and nothing that it calls."""

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
    """The student's code called PyTorch's own attention where it should write it."""


class Transport(Protocol):
    """Performs one request (see `autograder.sandbox.inside.perform`) and gives its reply."""

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply; raises `StudentError` where there is none."""


@dataclass(frozen=True)
class Gradients:
    """Output and gradients of one call; a gradient is None where nothing flows. `after`: the arguments afterwards."""

    value: Any
    inputs: list[Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    after: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Recorded:
    """One call and its reply; `reply` is None where none came."""

    request: dict[str, Any]
    reply: dict[str, Any] | None


class Student:
    """Somebody's names, called through a transport. Remembers its calls, for messages and for diagnosis."""

    def __init__(self, transport: Transport, parameter_names: Callable[[str], Sequence[str]]) -> None:
        self._transport = transport
        self._parameter_names = parameter_names
        self.last_call = ""
        self.calls: list[Recorded] = []
        self.ready_made: ReadyMade | None = None

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def _request(self, request: dict[str, Any], call: str) -> dict[str, Any]:
        self.last_call = call
        try:
            reply = self._transport(request)
        except StudentError:
            self.calls.append(Recorded(request, None))
            raise
        self.calls.append(Recorded(request, reply))
        if reply.get("ready_made"):
            self.ready_made = ReadyMade(READY_MADE.format(name=str(reply["ready_made"])[:60]))
            raise self.ready_made
        if "error" in reply:
            raise _as_exception(request["name"], reply["error"])
        if "value" not in reply:
            raise Stopped("nothing came back.")
        return reply


class Function:
    """One exercise of a student."""

    def __init__(self, student: Student, name: str) -> None:
        self._student = student
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the call, as data."""
        return self._call(args, kwargs)["value"]

    def inputs_after(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The positional arguments as they are after the call."""
        return _as_list(self._call(args, kwargs).get("inputs"))

    def gradients(self, *args: Any, seeds: Sequence[Any], **kwargs: Any) -> Gradients:
        """Output, and gradients of sum(output * seed) by each floating tensor among `args`."""
        reply = self._call(args, kwargs, cotangents=list(seeds))
        return Gradients(reply["value"], _as_list(reply.get("gradients")))

    def build(self, *args: Any, **kwargs: Any) -> dict[str, tuple[int, ...]]:
        """Construct an `nn.Module`; its parameters' names and shapes."""
        request = self._base(args, kwargs) | {"forward": None}
        reply = self._student._request(request, self._text(args, kwargs))
        return dict(_as_dict(reply.get("shapes")))

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
        forward = {"args": list(args), "kwargs": kwargs}
        request = self._base(construct, options or {}) | {"parameters": dict(parameters), "forward": forward}
        if seeds is not None:
            request["cotangents"] = list(seeds)
        names = self._student._parameter_names(f"{self.name}.forward")
        text = self._text(construct, options or {}) + _call_text(args, kwargs, names, "")
        reply = self._student._request(request, text)
        parameters = dict(_as_dict(reply.get("parameters")))
        return Gradients(reply["value"], _as_list(reply.get("gradients")), parameters, _as_list(reply.get("inputs")))

    def _base(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {"name": self.name, "args": list(args), "kwargs": dict(kwargs)}

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        return self._student._request(self._base(args, kwargs) | more, self._text(args, kwargs))

    def _text(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        return _call_text(args, kwargs, self._student._parameter_names(self.name), self.name)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _call_text(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> str:
    """`softmax(x, axis=0) with x (4, 5)`: a call as a person would write it down."""
    labels = [names[i] if i < len(names) else f"argument {i + 1}" for i in range(len(args))]
    written, shapes = [], []
    for label, value, keyword in [
        *zip(labels, args, [False] * len(args), strict=True),
        *((k, v, True) for k, v in kwargs.items()),
    ]:
        if hasattr(value, "shape"):
            written.append(f"{label}={label}" if keyword else label)
            shapes.append(f"{label} {tuple(value.shape)}")
        elif callable(value):  # a function or a model of the suite's: its name there says nothing to a student
            written.append(f"{label}={label}" if keyword else label)
        else:
            written.append(f"{label}={value!r}" if keyword or names else repr(value))
    text = f"{function}({', '.join(written)})"
    return text + (f" with {', '.join(shapes)}" if shapes else "")


def _as_exception(name: str, error: Any) -> StudentError:
    """An error that came over as text, as an exception of ours."""
    error = error if isinstance(error, dict) else {"kind": "Exception", "text": str(error), "lines": []}
    kind, text = error["kind"], error["text"]
    if kind == "NotImplementedError":
        untouched = NotStarted("not started yet.")
        untouched.its_own = len(error["lines"]) == 1
        return untouched
    if kind == "Missing":
        return Missing(f"the notebook defines no `{name}`. Was its cell deleted, renamed, or did it fail?")
    where = "".join(f" In {function}, line {number}: `{line.strip()}`." for function, number, line in error["lines"])
    if kind == "AttributeError" and text.startswith("the module has no parameter"):
        return Raised(f"{text}. Are the layers kept as members under the names the exercise gives?")
    cls = RaisedValueError if kind == "ValueError" else Raised
    return cls(raised(kind, text) + where)


def here(names: dict[str, Any], questions: Questions | None = None) -> Transport:
    """A transport to `names` in this very process: for `check` in a notebook, and for trusted code.

    Arguments and values are copied as they would be over the wall. Printed text and warnings are dropped.
    """
    questions = questions or Questions({})

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        return _copied(questions.answer(_copied(question)))

    def transport(request: dict[str, Any]) -> dict[str, Any]:
        copied = _copied(questions.prepare(request))
        quiet = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            warnings.simplefilter("ignore")
            with np.errstate(all="ignore"):
                return _copied(perform(names, copied, answer))

    return transport


def _copied(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value if key == "error" else _copy(value) for key, value in request.items()}


def _copy(value: Any) -> Any:
    return wire.decode(wire.encode(value))
