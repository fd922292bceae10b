"""A call as a person would write it, with arrays and tables given by their sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from cellcage.protocol.calls import EVAL, Call, Gives
from cellcage.values.value_type import described

MOST_ITEMS = 100  # of a list that is written out

ParameterNames = Callable[[str], Sequence[str]]  # of a function or class, or of a method, as `Block.forward`


def as_written(call: Call, names: ParameterNames, is_exact: bool = False) -> str:
    """A call as a person would write it: `median(x, axis=0) with x (4, 5)`.

    is_exact: whether it matters what came by position; then `median(x, 0) with x (4, 5)`
    """
    text_of = partial(_call_text, is_exact=is_exact)
    if call.gives is Gives.NAME:
        return call.name
    if call.instance is None:
        made = text_of(call.args, call.kwargs, names(call.name), call.name)
        return ", then ".join([made, *_step_texts(call, names)])
    made = text_of(call.instance.args, call.instance.kwargs, names(call.name), call.name)
    if call.build:
        return made
    forward = names(f"{call.name}.forward")
    made += "".join(f".{EVAL}()" for step in call.steps if step.method == EVAL)
    before = [_call_text(step.args, {}, forward, "") for step in call.steps if step.method != EVAL]
    return made + ", then ".join([*before, text_of(call.args, call.kwargs, forward, "")])


def _step_texts(call: Call, names: ParameterNames) -> list[str]:
    """`append(k) with k (2, 3) 5 times`, `len()`."""
    steps = [_call_text(step.args, {}, names(f"{call.name}.{step.method}"), step.method) for step in call.steps]
    counted = [(text, len(list(same))) for text, same in itertools.groupby(steps)]
    return [text if count == 1 else f"{text} {count} times" for text, count in counted]


def _call_text(
    args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str, is_exact: bool = False
) -> str:
    written, sizes = [], []
    keyword = False  # after `width=3` Python takes keyword arguments only
    arguments = [*itertools.zip_longest(names[: len(args)], args, fillvalue=""), *kwargs.items()]
    for number, (label, value) in enumerate(arguments):
        by_name = bool(label) and (keyword or number >= len(args))
        if (size := _size(value)) is None:
            is_labelled = bool(label) and not (is_exact and number < len(args))
            written.append(f"{label}={value!r}" if is_labelled else repr(value))
            keyword = keyword or is_labelled
        else:
            # Without a label the size stands in the call: the code names no parameters.
            written.append(f"{label}={label}" if by_name else label or size[0])
            sizes += [f"{label} {size[1]}"] if label and size[1] else []
    text = f"{function}({', '.join(written)})"
    return text + (f" with {', '.join(sizes)}" if sizes else "")


def _size(value: Any) -> tuple[str, str] | None:
    """An argument without a label, and its size after a label, if any; None if it is written out instead."""
    if (found := described(value)) is not None:
        return found[0].size(found[1])
    if hasattr(value, "shape"):
        shape = str(tuple(value.shape))
        return f"an array {shape}", shape
    if isinstance(value, list | tuple) and len(value) > MOST_ITEMS:
        return f"a list of {len(value):,}", f"(a list of {len(value):,})"
    if isinstance(value, dict):
        return "a dict", ""
    return ("a function", "") if callable(value) else None
