"""A call as a person would write it down."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.sandbox.protocol.calls import EVAL, Call
from autograder.sandbox.protocol.tables import FRAME, MOMENT, SPAN, Table

ParameterNames = Callable[[str], Sequence[str]]  # of a function or class, or of a method, as `Block.forward`


def as_written(call: Call, names: ParameterNames) -> str:
    """`median(x, axis=0) with x (4, 5)`: a call as a person would write it down."""
    if call.instance is None:
        return (
            _steps_text(call, names) if call.steps else _call_text(call.args, call.kwargs, names(call.name), call.name)
        )
    made = _call_text(call.instance.args, call.instance.kwargs, names(call.name), call.name)
    if call.build:
        return made
    forward = names(f"{call.name}.forward")
    made += "".join(f".{EVAL}()" for step in call.steps if step.method == EVAL)
    before = [_call_text(step.args, {}, forward, "") for step in call.steps if step.method != EVAL]
    return made + ", then ".join([*before, _call_text(call.args, call.kwargs, forward, "")])


def _steps_text(call: Call, names: ParameterNames) -> str:
    """`Cache(4), then append(k) with k (2, 3) 5 times, then len()`."""
    made = _call_text(call.args, call.kwargs, names(call.name), call.name)
    done = [_call_text(step.args, {}, names(f"{call.name}.{step.method}"), step.method) for step in call.steps]
    counted = [(text, len(list(same))) for text, same in itertools.groupby(done)]
    return ", then ".join([made, *(text if count == 1 else f"{text} {count} times" for text, count in counted)])


def _call_text(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> str:
    # If the code names no parameters, a shape says enough.
    labels = [names[i] if i < len(names) else "" for i in range(len(args))]
    written, shapes = [], []
    named = False  # after `width=3` Python takes names alone
    for label, value, keyword in [
        *zip(labels, args, [False] * len(args), strict=True),
        *((k, v, True) for k, v in kwargs.items()),
    ]:
        keyword = keyword or (named and bool(label))
        if isinstance(value, Table) and value.kind not in (MOMENT, SPAN):
            size = f"{len(value)} x {len(value.parts)}" if value.kind == FRAME else f"{len(value)}"
            written.append(f"{label}={label}" if keyword else label or f"a {value.kind} of {size}")
            shapes += [f"{label} of {size}"] if label else []
        elif hasattr(value, "shape") and not label:
            written.append(f"{'a tensor' if hasattr(value, 'detach') else 'an array'} {tuple(value.shape)}")
        elif hasattr(value, "shape"):
            written.append(f"{label}={label}" if keyword else label)
            shapes.append(f"{label} {tuple(value.shape)}")
        elif callable(value) or isinstance(value, dict):  # of the suite's: what it is called there says nothing
            written.append(
                f"{label}={label}" if keyword else label or ("a dict" if isinstance(value, dict) else "a function")
            )
        else:
            written.append(f"{label}={value!r}" if label else repr(value))
            named = named or bool(label)
    text = f"{function}({', '.join(written)})"
    return text + (f" with {', '.join(shapes)}" if shapes else "")
