"""Seeds all random numbers: those of a call that draws some, and those of a whole notebook.

This seeds the global generators of Python, NumPy and PyTorch. It also determines the state of generators that are
created without a seed, such as `np.random.default_rng()`, `random.Random()` and `random.SystemRandom()`. Student code
can still take randomness from the clock, or read it from the machine.
"""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cellcage.protocol.calls import Chance

_python: Any = random
_SEED = random.Random.seed


def begin(seed: int) -> None:
    """From now on, all random numbers in this process follow from `seed`."""
    stream = random.Random(seed)  # noqa: S311

    def seeded_anew(self: random.Random, a: Any = None, version: int = 2) -> None:
        _SEED(self, stream.getrandbits(64) if a is None else a, version)

    _SEED(_python._inst, seed)
    # The sources of `SystemRandom`, `secrets` and NumPy's unseeded generators, and of Python's unseeded ones.
    _python._urandom, _python.Random.seed = stream.randbytes, seeded_anew
    _python.seed = _python._inst.seed
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within the block, all random numbers follow from `seed`. Afterwards the generators continue as before."""
    torch = sys.modules.get("torch")
    before = _python._urandom, _python.Random.seed, _python.seed
    states = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()
    begin(seed)
    try:
        yield
    finally:
        _python._urandom, _python.Random.seed, _python.seed = before
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch:
            torch.set_rng_state(states[2])


def drawn(function: Any, args: list[Any], kwargs: Mapping[str, Any], chance: Chance) -> Any:
    """The value of a call that draws random numbers, or a sample of its values.

    A sample is an array if the values are numbers, or arrays of one shape, and else a list.
    """
    rng, seeds = np.random.default_rng(chance.seed), random.Random(chance.seed)  # noqa: S311
    values = []
    for _ in range(max(1, chance.times)):
        named = dict(kwargs)
        if chance.rng:
            named[chance.rng] = rng
        if chance.given:
            named[chance.given] = seeds.getrandbits(31)
        if not chance.times:
            return function(*args, **named)
        copies = _copied(args)
        value = function(*copies, **named)
        values.append(_copied(copies[0] if chance.in_place else value))  # it may return the same object each time
    return _packed(values)


def _copied(value: Any) -> Any:
    """As `copy.deepcopy`, but in a third of its time for lists of numbers."""
    if type(value) is list:
        return [*map(_copied, value)]
    return value if type(value) in (int, float, str, bool) else copy.deepcopy(value)


def _packed(values: list[Any]) -> Any:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError):
        return values
    return array if array.dtype.kind in "biuf" else values
