"""Calls and values as a person would write them, and code that makes the inputs of a call in a notebook.

    as_written(call, names)                                        "mix(Q, K) with Q (4, 6), K (4, 6)"
    as_text(np.array([1.0, 0.5]))                                  "[1, 0.5]"
    note(numbers, "np.random.default_rng(7).normal(size=(4, 6))")  what a suite's helper made, and how
    notes.line(call, names)                                        "Q = np.random.default_rng(7).normal(size=(4, 6))"

`note` adds to the notes of the suite that is being loaded or run, and does nothing if there is none. A suite scales and
transposes what its helper made; this is found out by trying. Inputs are not secret, but answers are: a line has only
what a suite made, and nothing that any code returned.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from autograder.testing.tolerances import MADE
from cellcage.protocol.calls import EVAL, Call, Gives
from cellcage.values.value import is_tensor, numbers
from cellcage.values.value_type import described

MOST_ITEMS = 100  # of a list that is written out
FEW = 48  # numbers that are written out
DIGITS = 6  # of the factor that a suite scales by
MANY = 3  # arrays drawn alike, from which on the drawing gets a name
DRAWN = re.compile(r"np\.random\.default_rng\((\d+)\)\.normal\(size=\((.*?),?\)\)")
OF_TORCH = re.compile(rf"(\w+ = )torch\.from_numpy\(((?:[\d.e-]+ \* )?{DRAWN.pattern}(?: [+-] [\d.e-]+)?)\)")

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


def as_text(value: Any) -> str:
    """A value as a person writes it down: `[[1, 0.1192], [2, 3]]`."""
    if (found := described(value)) is not None:
        return found[0].shown(found[1], as_text)
    if isinstance(value, np.ndarray):
        return f"[{', '.join(map(as_text, value))}]" if value.ndim else as_text(value.item())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        number = value + 0.0  # a reader sees -0 as 0
        plain = number == 0 or 5e-5 <= abs(number) < 1e7
        return f"{number:.4f}".rstrip("0").rstrip(".") if plain else f"{number:.2g}"
    return repr(value)


# ---------------------------------------------------------------- code that makes the inputs


class Notes:
    """How the arrays of one suite were made."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], list[tuple[np.ndarray, str]]] = defaultdict(list)

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Collect here whatever is noted inside."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def add(self, array: np.ndarray, code: str) -> None:
        """Remember how an array was made."""
        known = self._made[array.shape]
        if not any(code == known_code for _, known_code in known):
            known.append((np.array(array, dtype=float), code))

    def line(self, call: Call, names: ParameterNames) -> str:
        """Code that makes the arrays of a function's call, under the function's own names; empty if that is unknown.

        Empty for modules and objects: a module has too many weights for a line, and an object is used in several calls.
        """
        if call.instance is not None or call.steps:
            return ""
        labels = list(names(call.name))
        given = {**dict(zip(labels, call.args, strict=False)), **call.kwargs}
        if len(labels) < len(call.args) or any(map(callable, given.values())):
            return ""
        made = {name: self._code(value) for name, value in given.items() if hasattr(value, "shape")}
        return _shortened([f"{name} = {code}" for name, code in made.items()]) if made and all(made.values()) else ""

    def _code(self, value: Any) -> str:
        array = numbers(value)
        if array.dtype.kind in "bi" and array.size <= FEW:
            rows = str(array.astype(int).tolist()).replace(" ", "")
            code = f"np.array({rows}, dtype={'bool' if array.dtype.kind == 'b' else array.dtype.name!r})"
        else:
            code = self._from_seed(array)
        return f"torch.from_numpy({code})" if code and is_tensor(value) else code

    def _from_seed(self, array: np.ndarray) -> str:
        cast = "" if array.dtype == np.float64 else f".astype(np.{array.dtype.name})"
        ways = [(array.astype(float), "")]
        if array.ndim > 1:
            ways.append((ways[0][0].swapaxes(-1, -2), ".swapaxes(-1, -2)"))
        for turned, turn in ways:
            for known, code in self._made.get(turned.shape, ()):
                if scaled := _scaled(turned, known, code):
                    bracketed = f"({scaled})" if scaled != code and (turn or cast) else scaled
                    return f"{bracketed}{turn}{cast}"
        return ""


# The notes of the suite that is being loaded or run: a helper that makes inputs does not know its suite.
_current: ContextVar[Notes | None] = ContextVar("_current", default=None)


def note(array: np.ndarray, code: str) -> None:
    """Remember how an array was made, for the suite that is being loaded or run."""
    notes = _current.get()
    if notes is not None:
        notes.add(array, code)


def _shortened(parts: Sequence[str]) -> str:
    """Lines of code in one; if many arrays are drawn alike, the drawing gets a name."""
    whole = "; ".join(parts)
    if len(DRAWN.findall(whole)) < MANY:
        return whole
    made = "np.random.default_rng(seed).normal(size=size)"
    if all(OF_TORCH.fullmatch(part) for part in parts if DRAWN.search(part)):
        whole = "; ".join(OF_TORCH.sub(r"\1\2", part) for part in parts)
        made = f"torch.from_numpy({made})"
    whole = DRAWN.sub(r"normal(\1, \2)", whole)
    return f"normal = lambda seed, *size: {made}; {whole}"


def _scaled(array: np.ndarray, known: np.ndarray, code: str) -> str:
    """`code` with the factor and the summand that make `array` of `known`; empty if there are none."""
    if not np.isfinite(array).all():
        return ""
    if known.size < 2 or known.flat[0] == known.flat[-1]:
        return code if np.array_equal(array, known) else ""
    factor = (array.flat[-1] - array.flat[0]) / (known.flat[-1] - known.flat[0])
    summand = array.flat[0] - factor * known.flat[0]
    atol = MADE * max(1.0, abs(factor))
    if factor == 0 or not np.allclose(array, factor * known + summand, rtol=MADE, atol=atol):
        return ""
    scaled = code if abs(factor - 1) < MADE else f"{factor:.{DIGITS}g} * {code}"
    sign = "+" if summand > 0 else "-"
    return scaled if abs(summand) < atol else f"{scaled} {sign} {abs(summand):.{DIGITS}g}"
