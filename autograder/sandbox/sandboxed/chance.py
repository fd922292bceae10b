"""Chance that comes of a seed: for a call that draws, and for all that a notebook draws.

Python's, NumPy's and PyTorch's own generators are seeded, and so is what generators without a seed begin with, such as
`np.random.default_rng()`, `random.Random()` and `random.SystemRandom()`. What student code takes from the clock, or
reads from the machine itself, stays what it is.
"""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Call, Chance

_python: Any = random
_SEED = random.Random.seed


def begin(seed: int) -> None:
    """From here on all chance in this process comes of `seed`."""
    stream = random.Random(seed)  # noqa: S311

    def seeded_anew(self: random.Random, a: Any = None, version: int = 2) -> None:
        _SEED(self, stream.getrandbits(64) if a is None else a, version)

    _SEED(_python._inst, seed)
    # What `SystemRandom`, `secrets` and NumPy's generators without a seed ask for; and what Python's own do.
    _python._urandom, _python.Random.seed = stream.randbytes, seeded_anew
    _python.seed = _python._inst.seed
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Meanwhile all chance comes of `seed`; afterwards it goes on as if nothing had been drawn."""
    torch = sys.modules.get("torch")
    kept = _python._urandom, _python.Random.seed, _python.seed
    states = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()
    begin(seed)
    try:
        yield
    finally:
        _python._urandom, _python.Random.seed, _python.seed = kept
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch:
            torch.set_rng_state(states[2])


def drawn(function: Any, call: Call, chance: Chance) -> Any:
    """What a call gives that draws, or a sample of it: an array if its values are numbers of one shape, or a list."""
    rng, seeds = np.random.default_rng(chance.seed), random.Random(chance.seed)  # noqa: S311
    values = []
    for _ in range(max(1, chance.times)):
        kwargs = dict(call.kwargs)
        if chance.rng:
            kwargs[chance.rng] = rng
        if chance.given:
            kwargs[chance.given] = seeds.getrandbits(31)
        args = _copied(list(call.args)) if chance.times else list(call.args)
        value = function(*args, **kwargs)
        # What it gives may be one thing that it changes each time.
        values.append(_copied(args[0] if chance.in_place else value) if chance.times else value)
    return _packed(values) if chance.times else values[0]


def _copied(value: Any) -> Any:
    """As `copy.deepcopy`, in a third of its time for lists of numbers."""
    if type(value) is list:
        return [*map(_copied, value)]
    return value if type(value) in (int, float, str, bool) else copy.deepcopy(value)


def _packed(values: list[Any]) -> Any:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError):
        return values
    return array if array.dtype.kind in "biuf" else values
