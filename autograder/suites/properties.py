"""Properties that hold for right answers and for nearly right ones, and not for answers that are no attempt.

A refinement (batch axes, dtype, stability, ...) is judged by such a property of the student's own function, not by
the right values: those have tests of their own, so one slip there costs those tests and not these, too. And each
refinement first asks `responds`, so that zeros, constants, random numbers or an input handed back earn nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.marking import expect
from autograder.marking.student import Gradients

Call = Callable[..., Any]


def parts(value: Any) -> list[np.ndarray]:
    """The arrays in an answer: of a tuple each, else the one."""
    values = value if isinstance(value, tuple) else (value,)
    return [np.asarray(expect._numbers(v)) for v in values]


def responds(call: Call, args: Sequence[Any], others: Sequence[Any]) -> None:
    """The same question gives the same answer; another value of any argument in `others` gives another.

    `others[i]` replaces argument i; None leaves that argument out of the test.
    """
    first, second = parts(call(*args)), parts(call(*args))
    if any(a.shape != b.shape or not np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=False)):
        expect.fail("the same arguments give another result each time.")
    for index, other in enumerate(others):
        if other is None:
            continue
        changed = list(args)
        changed[index] = other
        moved = parts(call(*changed))
        same = all(a.shape == b.shape and np.allclose(a, b, atol=1e-7, equal_nan=True) for a, b in zip(first, moved, strict=False))
        if same:
            expect.fail(f"the result does not depend on argument {index + 1}.", "Is every argument used?")


def same_item_by_item(call: Call, args: Sequence[Any], axes: int, hint: str) -> None:
    """With `axes` batch axes in front of every argument, each item's answer is the answer to that item alone."""
    together = parts(call(*args))
    batch = tuple(args[0].shape[:axes])
    for part in together:
        if part.shape[:axes] != batch:
            expect.fail(f"the result has shape {part.shape}; its first axes should be {batch}.", hint)
    for index in np.ndindex(*batch):
        alone = parts(call(*(arg[index] for arg in args)))
        for whole, single in zip(together, alone, strict=False):
            expect.close(whole[index], single, hint, f"the result for batch item {index if axes > 1 else index[0]}")


def gradients_match(function: Any, args: Sequence[Any], seeds: Sequence[Any], hint: str) -> None:
    """Autograd's gradients equal central differences of the same function, along one random direction an argument.

    In float64 with a step of 1e-5 honest gradients agree to 1e-8; a detached one is off by its whole size.
    """
    import torch

    given: Gradients = function.gradients(*args, seeds=seeds)
    for index, arg in enumerate(args):
        direction = torch.from_numpy(np.random.default_rng(100 + index).normal(size=tuple(arg.shape)))
        numeric = _slope(function, args, index, direction, seeds)
        gradient = given.inputs[index] if index < len(given.inputs) else None
        name = f"argument {index + 1}"
        if gradient is None or not hasattr(gradient, "detach"):
            expect.fail(f"no gradient reaches {name}.", hint)
        expect.finite(gradient, hint, f"the gradient of {name}")
        expect.shape(gradient, tuple(arg.shape), hint, f"the gradient of {name}")
        flowing = float((gradient * direction).sum())
        if abs(flowing - numeric) > 1e-5 * max(1.0, abs(numeric)):
            expect.fail(f"the gradient of {name} is not the slope of the function.", hint)


def _slope(function: Any, args: Sequence[Any], index: int, direction: Any, seeds: Sequence[Any]) -> float:
    step = 1e-5
    sides = []
    for sign in (step, -step):
        moved = list(args)
        moved[index] = args[index] + sign * direction
        sides.append(sum(float((p * np.asarray(s)).sum()) for p, s in zip(parts(function(*moved)), seeds, strict=False) if s is not None))
    return (sides[0] - sides[1]) / (2 * step)
