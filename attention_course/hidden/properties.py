"""Properties that hold for right answers and for nearly right ones, and not for answers that are no attempt.

A refinement (batch axes, dtype, stability, ...) is judged by such a property of the student's own function, not by
the right values: those have tests of their own, so one slip there costs those tests and not these, too. And each
refinement first asks `responds`, so that zeros, constants, random numbers or an input handed back earn nothing. It asks
no more than that: whether every argument is used, and rightly, is for the tests of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.testing import Gradients, expect

Call = Callable[..., Any]
ANY_SIZE = "Small sizes come out right? Then which of your numbers is a size, and which line goes no further than that?"


def parts(value: Any) -> list[np.ndarray]:
    """The arrays in an answer: of a tuple each, else the one."""
    values = value if isinstance(value, tuple) and value else (value,)
    return [np.asarray(expect.numbers(v)) for v in values]


def responds(call: Call, args: Sequence[Any], others: Sequence[Any], names: Sequence[str] = ()) -> None:
    """An attempt: the same question gets the same answer, another one another, and no argument comes back as it is.

    `others[i]` replaces argument i, all of them at once; None leaves that argument as it is. `names` are for the
    messages.
    """
    first, second = parts(call(*args)), parts(call(*args))
    # Where an array lies in memory may change its last digits; a random or remembered number is off by far more.
    if not _alike(first, second, rtol=1e-6, atol=1e-9):
        expect.fail("the same arguments give another result each time.")
    given = [_array(arg) for arg in args if hasattr(arg, "shape") or isinstance(arg, int | float)]
    if all(any(_alike([part], [arg], rtol=0, atol=0) for arg in given) for part in first):
        expect.fail("an argument came back as it was.", "What is to be done with it?")
    pairs = list(zip(args, [*others, *[None] * (len(args) - len(others))], strict=True))
    changed = [arg if other is None else other for arg, other in pairs]
    if _alike(first, parts(call(*changed)), rtol=1e-5, atol=1e-7):
        which = [_name(names, index) for index, (_, other) in enumerate(pairs) if other is not None]
        expect.fail(f"the result stays the same with other values in {' and '.join(which)}.", "What is it made from?")


def _array(arg: Any) -> np.ndarray:
    return np.asarray(arg.detach() if hasattr(arg, "detach") else arg)


def _alike(one: Sequence[np.ndarray], other: Sequence[np.ndarray], *, rtol: float, atol: float) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def keeps_digits(got: np.ndarray, what: str) -> None:
    """Numbers in float64 have more digits than float32 has: nothing on the way was float32.

    Zeros, ones and the like, which have few digits anyway, tell nothing.
    """
    if got.dtype != np.float64:
        return
    with np.errstate(all="ignore"):
        short, shorter = (got.astype(dtype).astype(np.float64) == got for dtype in (np.float32, np.float16))
    if short.all() and not shorter.all():
        hint = "Is a step computed in float32, and its result cast back?"
        expect.fail(f"{what} is float64, but its numbers have the digits of float32 only.", hint)


def _name(names: Sequence[str], index: int) -> str:
    return names[index] if index < len(names) else f"argument {index + 1}"


def same_item_by_item(call: Call, args: Sequence[Any], axes: int, hint: str) -> None:
    """With `axes` batch axes in front of every argument, each item's answer is the answer to that item alone."""
    batch = tuple(args[0].shape[:axes])
    alone = {index: parts(call(*(arg[index] for arg in args))) for index in np.ndindex(*batch)}
    together = parts(call(*args))  # last, so that it is the call that a message speaks of
    for part in together:
        if part.shape[:axes] != batch:
            expect.fail(f"the result has shape {part.shape}; its first axes should be {batch}.", hint)
    for index, singles in alone.items():
        for whole, single in zip(together, singles, strict=False):
            expect.close(whole[index], single, hint, f"the result for batch item {index if axes > 1 else index[0]}")


def same_in_batches(call: Call, batches: Sequence[Sequence[Any]], hint: str) -> None:
    """As `same_item_by_item`, for arguments with one batch axis, then for those with two.

    All are asked before one is judged, so that a diagnosis hears both.
    """
    for args in batches:
        call(*args)
    for axes, args in enumerate(batches, 1):
        same_item_by_item(call, args, axes, hint)


# A step, and how far autograd and central differences may lie apart at it: relative and absolute. Honest float64
# agrees to 1e-8 at the fine step. Code that turns to float32 inside shows its slope at the coarse one only.
STEPS = ((1e-5, 1e-5, 1e-5), (1e-2, 2e-2, 1e-3))


def gradients_match(
    function: Any, args: Sequence[Any], seeds: Sequence[Any], hint: str, names: Sequence[str] = ()
) -> None:
    """Autograd's gradients equal central differences of the same function, along one random direction an argument.

    A detached gradient is off by its whole size. Arguments that are no floating tensors are left out; `names` are for
    the messages.
    """
    import torch

    given: Gradients = function.gradients(*args, seeds=seeds)
    _seeded_parts(given.value, seeds, hint)
    for index, arg in enumerate(args):
        if not isinstance(arg, torch.Tensor) or not arg.is_floating_point():
            continue
        name = _name(names, index)
        gradient = given.inputs[index] if index < len(given.inputs) else None
        if gradient is None or not hasattr(gradient, "detach"):
            expect.fail(f"no gradient reaches {name}.", hint)
        expect.finite(gradient, hint, f"the gradient of {name}")
        expect.shape(gradient, tuple(arg.shape), hint, f"the gradient of {name}")
        direction = torch.from_numpy(np.random.default_rng(100 + index).normal(size=tuple(arg.shape)))
        flowing = float((gradient * direction).sum())
        if not any(_agrees(flowing, function, args, index, direction, seeds, step) for step in STEPS):
            expect.fail(f"the gradient of {name} is not the slope of the function.", hint)


def _seeded_parts(value: Any, seeds: Sequence[Any], hint: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each part of the answer that has a seed, with its seed; of a tuple or a list, which is for others to judge."""
    found = parts(tuple(value) if isinstance(value, list) else value)
    pairs = [(part, np.asarray(seed)) for part, seed in zip(found, seeds, strict=False) if seed is not None]
    for part, seed in pairs:
        expect.shape(part, seed.shape, hint)
    return pairs


def _agrees(
    flowing: float,
    function: Any,
    args: Sequence[Any],
    index: int,
    direction: Any,
    seeds: Sequence[Any],
    step: tuple[float, float, float],
) -> bool:
    size, relative, absolute = step
    numeric = _slope(function, args, index, direction, seeds, size)
    return abs(flowing - numeric) <= relative * abs(numeric) + absolute


def _slope(function: Any, args: Sequence[Any], index: int, direction: Any, seeds: Sequence[Any], size: float) -> float:
    """The slope of sum(output * seed) along `direction` in argument `index`."""
    sides = []
    for sign in (size, -size):
        moved = list(args)
        moved[index] = args[index] + sign * direction
        sides.append(sum(float((part * seed).sum()) for part, seed in _seeded_parts(function(*moved), seeds, "")))
    return (sides[0] - sides[1]) / (2 * size)
