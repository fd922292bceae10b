"""An answer as one number, to look up who gives it.

Equal answers have equal prints, to rounding; others hardly ever. What a print finds is compared in full before it is
told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.judging.alike import numbers
from autograder.sandbox.protocol.calls import Answer, Failure, Reply
from autograder.sandbox.protocol.objects import Record, Table

MOST = 20_000  # numbers of an answer that count
NOT_A_NUMBER, ENDLESS = 1234.5, 54321.0
TOLERANCE = 1e-4  # float64 answers in another order of steps differ by 1e-12; two answers by 1 on the average
_weights = np.random.default_rng(17).normal(size=MOST)


def print_of(answer: Answer) -> float:
    """The print of a call's value, or of its failure."""
    if isinstance(answer, Reply):
        found, form = 0.0, []
        for i, (kind, values) in enumerate(_leaves(answer.value)):
            form.append(kind)
            found += (1 + 0.1 * i) * float(values @ _weights[: len(values)])
        return found + _of_text(" ".join(form))
    return _of_text(f"{answer.kind} {answer.error}" if isinstance(answer, Failure) else "nothing")


def alike(one: float | np.ndarray, other: float | np.ndarray) -> Any:
    """Are two prints (or two arrays of them, place by place) of one answer?"""
    return np.abs(np.subtract(one, other)) <= TOLERANCE * (1 + 1e-3 * np.abs(one))


def _leaves(value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Every array and plain value inside, each with what it is."""
    if hasattr(value, "dtype"):
        array = numbers(value)
        usable = array.ravel()[:MOST].astype(float) if array.dtype.kind in "biuf" else np.zeros(0)
        kind = f"{type(value).__name__}{array.dtype}{array.shape}"
        yield kind, np.nan_to_num(usable, nan=NOT_A_NUMBER, posinf=ENDLESS, neginf=-ENDLESS)
    elif isinstance(value, Record | Table):
        yield from _leaves(value.fields if isinstance(value, Record) else value.columns)
    elif isinstance(value, set | frozenset):
        yield f"{type(value).__name__}{sorted(map(repr, value))!s:.100}", np.zeros(0)
    elif isinstance(value, list | tuple) and all(type(item) in (int, float, bool) for item in value):
        kinds = "".join(type(item).__name__[0] for item in value)
        yield f"{type(value).__name__}{kinds}", np.array([float(item) for item in value[:MOST]])
    elif isinstance(value, list | tuple | dict):
        yield f"{type(value).__name__}{len(value)}", np.zeros(0)
        # Over the wall the keys of a dict come in an order of their own.
        for item in [value[key] for key in sorted(value, key=str)] if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield f"{type(value).__name__}{value!s:.100}", np.zeros(0)


def _of_text(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=3).digest()) / 1e3
