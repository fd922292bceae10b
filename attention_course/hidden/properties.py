"""Properties that right and nearly right answers have, and that answers without a real attempt do not have.

A refinement (batch axes, dtype, stability, ...) is judged by such a property of the student's own function, and not by
the right values. Values have their own tests, so a wrong value costs points there only. Each refinement first calls
`responds`, so that zeros, constants, random numbers or a returned input earn nothing. `responds` checks no more than
that: whether every argument is used, and correctly, is for the tests of values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.testing import Gradients, Raised, expect

Call = Callable[..., Any]
Step = tuple[Any, ...]
FIRST_NAN = "Where is the first NaN? What are 0 times infinity, infinity minus infinity, and 0 / 0?"
REST = 1e-8  # where scores differ by 20 and more, less than this is left in any dtype
WRITTEN = "Do two calls give parts of one and the same object?"
ANY_SIZE = expect.IfOthersPass(
    "Small sizes come out right. Which of your numbers is a size, and which line goes no further than that?"
)


def parts(value: Any) -> list[np.ndarray]:
    """The arrays in an answer: all items of a tuple, or the one array."""
    values = value if isinstance(value, tuple) and value else (value,)
    return [np.asarray(expect.numbers(v)) for v in values]


def responds(call: Call, args: Sequence[Any], others: Sequence[Any], names: Sequence[str] = ()) -> None:
    """Fails unless equal calls give equal answers, other arguments give another one, and no argument is returned as is.

    others: `others[i]` replaces argument i, all at the same time; None leaves that argument unchanged
    names: the arguments' names in messages
    """
    first, second = parts(call(*args)), parts(call(*args))
    # An array's address in memory may change the last digits. Random numbers or kept state differ by far more.
    if not _alike(first, second, rtol=1e-6, atol=1e-9):
        expect.fail("the same arguments give another result each time.")
    given = [_array(arg) for arg in args if hasattr(arg, "shape") or isinstance(arg, int | float)]
    if all(any(_alike([part], [arg], rtol=0, atol=0) for arg in given) for part in first):
        expect.fail("an argument came back as it was.", "What is to be done with it?")
    pairs = list(zip(args, [*others, *[None] * (len(args) - len(others))], strict=True))
    changed = [arg if other is None else other for arg, other in pairs]
    if _alike(first, parts(call(*changed)), rtol=1e-5, atol=1e-7):
        for part in first:
            expect.finite(part, FIRST_NAN)
        which = [_name(names, index) for index, (_, other) in enumerate(pairs) if other is not None]
        expect.fail(f"the result stays the same with other values in {' and '.join(which)}.", "What is it made from?")


def _array(arg: Any) -> np.ndarray:
    return np.asarray(arg.detach() if hasattr(arg, "detach") else arg)


def _alike(first: Sequence[np.ndarray], second: Sequence[np.ndarray], *, rtol: float, atol: float) -> bool:
    return len(first) == len(second) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        for a, b in zip(first, second, strict=True)
    )


def written_between(function: Any, other: Sequence[Any], write: Step, undo: Step, args: Sequence[Any]) -> Any:
    """The answer for `args`, after the caller has written into the answer for `other`.

    write, undo: a method of that answer, and its arguments. What is undone changes no other test. An answer that cannot
        be written into stays as it is
    """
    with contextlib.suppress(Raised):
        function.use([write], *other)
    answer = function(*args)
    with contextlib.suppress(Raised):
        function.use([undo], *other)
    return answer


def holds_in(student: Any, reference: Any, *tests: Callable[[Any, Any], None]) -> bool:
    """True if these tests pass. If not, the points are lost there, and a test of other sizes skips its comparison."""

    def holds(test: Callable[[Any, Any], None]) -> bool:
        return expect.holds(lambda: test(student, reference))

    return all(map(holds, tests))


def keeps_digits(got: np.ndarray, what: str) -> None:
    """Fails if float64 numbers have the digits of float32 only, which means that some step used float32.

    Numbers that float16 can hold, such as zeros and ones, are no evidence.
    """
    if got.dtype != np.float64:
        return
    with np.errstate(all="ignore"):
        short, shorter = (got.astype(dtype).astype(np.float64) == got for dtype in (np.float32, np.float16))
    if short.all() and not shorter.all():
        hint = "Is a step computed in float32, and its result cast back?"
        expect.fail(f"{what} is float64, but its numbers have the digits of float32 only.", hint)


def nothing_for_the_rest(weights: np.ndarray) -> None:
    """Fails if scores thousands below the largest of their row keep a weight, as with a floor under all weights.

    Weights above a half are the winners', and not looked at.
    """
    kept = np.max(np.abs(weights), where=np.abs(weights) < 0.5, initial=0.0)
    if kept > REST:
        hint = "What is exp of -1000, and is there a line of yours that makes it larger?"
        expect.fail(
            f"with scores that lie thousands apart, one far below the largest has a weight of {kept:.2g}.", hint
        )


def _name(names: Sequence[str], index: int) -> str:
    return names[index] if index < len(names) else f"argument {index + 1}"


def some_items(batch: Sequence[int]) -> list[tuple[int, ...]]:
    """Indices of at most four items of a batch of this shape, evenly spaced, the first and the last among them.

    Code that is wrong for some items is wrong for one of these: 0 0, 0 5, 1 2 and 1 7 of two texts with eight heads.
    """
    every = list(np.ndindex(*batch))
    return [every[place] for place in dict.fromkeys(np.linspace(0, len(every) - 1, 4).round().astype(int))]


def same_item_by_item(call: Call, args: Sequence[Any], axes: int, hint: str) -> None:
    """Fails unless items of a batch get the answers they get alone. Each argument begins with `axes` batch axes."""
    batch = tuple(args[0].shape[:axes])
    alone = {index: parts(call(*(arg[index] for arg in args))) for index in some_items(batch)}
    together = parts(call(*args))  # the last call, because a message shows the last one
    for part in together:
        if part.shape[:axes] != batch:
            expect.fail(f"the result has shape {part.shape}; its first axes should be {batch}.", hint)
    for index, singles in alone.items():
        for whole, single in zip(together, singles, strict=False):
            expect.close(whole[index], single, hint, f"the result for batch item {index if axes > 1 else index[0]}")


def same_in_batches(call: Call, batches: Sequence[Sequence[Any]], hint: str) -> None:
    """`same_item_by_item` for arguments with one batch axis, then for those with two.

    Both calls are made before either is judged, so that a diagnosis has both answers.
    """
    for args in batches:
        call(*args)
    for axes, args in enumerate(batches, 1):
        same_item_by_item(call, args, axes, hint)


# Step size, and how much autograd and central differences may differ at it: relative and absolute. Correct float64
# code agrees to 1e-8 at the fine step. Code that uses float32 inside agrees at the coarse step only.
STEPS = ((1e-5, 1e-5, 1e-5), (1e-2, 2e-2, 1e-3))


def gradients_match(
    function: Any, args: Sequence[Any], seeds: Sequence[Any], hint: str, names: Sequence[str] = ()
) -> None:
    """Fails unless autograd's gradients equal central differences, along one random direction for each argument.

    A detached gradient is off by its whole size. Arguments that are not floating tensors are left out. `names` are the
    arguments' names in messages.
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
    """Each part of the answer that has a seed, with its seed. A list is accepted here; other tests ask for a tuple."""
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
