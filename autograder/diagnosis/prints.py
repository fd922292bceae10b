"""An answer as two numbers, to look up who gives it.

Equal answers have equal prints, to rounding; others hardly ever. The first is of the value. The second is of all that
comes with it: arguments afterwards, gradients, and the shapes of parameters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Failure, Reply
from autograder.sandbox.protocol.objects import Record, Table
from autograder.suites.alike import numbers

MOST = 20_000  # parts of an answer that count, and numbers of a part
NOT_A_NUMBER, ENDLESS, HUGE = 1234.5, 54321.0, 1e9
# Float64 answers in another order of steps differ by 1e-12, with a root that is kept in float32 by 1e-6; two answers by
# 1 on the average.
TOLERANCE, OF_LARGE = 1e-4, 1e-2
COARSER = 100  # is what tells float32 answers apart, which honestly differ by 3e-6, of large scores by 2e-4
_weights = np.random.default_rng(17).normal(size=MOST)


def print_of(answer: Answer) -> tuple[float, float]:
    """The prints of what a call gave, or of its failure: of the value, and of all that comes with it."""
    if not isinstance(answer, Reply):
        return _of_text(f"{answer.kind} {answer.error}" if isinstance(answer, Failure) else "nothing"), 0.0
    shapes = " ".join(f"{name}{shape}" for name, shape in sorted(answer.shapes.items()))
    with np.errstate(all="ignore"):
        return _of(answer.value), _of([answer.inputs, answer.gradients, answer.parameters]) + _of_text(shapes)


def alike(one: np.ndarray, other: np.ndarray) -> Any:
    """Are prints (two arrays of them, place by place) of one answer?"""
    return np.abs(one - other) <= TOLERANCE * (1 + OF_LARGE * np.abs(one))


def apart(one: np.ndarray, other: np.ndarray) -> Any:
    """Are they of two answers, beyond all doubt?"""
    return ~(np.abs(one - other) <= 100 * TOLERANCE * (1 + OF_LARGE * np.abs(one)))


def _of(given: Any) -> float:
    found, form = 0.0, []
    for i, (kind, values) in enumerate(islice(_leaves(given), MOST)):
        form.append(kind)
        if values is not None:
            part = float(values @ _weights[: len(values)])
            if not abs(part) < HUGE:
                values = np.nan_to_num(values, nan=NOT_A_NUMBER, posinf=ENDLESS, neginf=-ENDLESS).clip(-HUGE, HUGE)
                part = float(values @ _weights[: len(values)])
            found += (1 + 0.1 * i) * part
    return found + _of_text(" ".join(form))


def _leaves(value: Any) -> Iterator[tuple[str, np.ndarray | None]]:
    """Every array and plain value inside, each with what it is."""
    if hasattr(value, "dtype"):
        array = numbers(value)
        kind = f"{type(value).__name__}{array.dtype.str}{array.shape}"
        if array.dtype.kind not in "biuf":
            yield kind, None
        elif array.dtype.kind == "f" and array.dtype != np.float64:
            yield kind, array.ravel()[:MOST].astype(float) / COARSER
        else:
            yield kind, array.ravel()[:MOST]
    elif isinstance(value, Record | Table):
        yield from _leaves(value.fields if isinstance(value, Record) else value.columns)
    elif isinstance(value, set | frozenset):
        yield f"{type(value).__name__}{sorted(map(repr, value))!s:.100}", None
    elif isinstance(value, list | tuple) and value and all(type(item) in (int, float, bool) for item in value):
        kinds = "".join(type(item).__name__[0] for item in value)
        yield f"{type(value).__name__}{kinds}", np.array([float(item) for item in value[:MOST]])
    elif isinstance(value, list | tuple | dict):
        yield f"{type(value).__name__}{len(value)}", None
        # Over the wall the keys of a dict come in an order of their own.
        for item in [value[key] for key in sorted(value, key=str)] if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield f"{type(value).__name__}{value!s:.100}", None


def _of_text(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=3).digest()) / 1e5
