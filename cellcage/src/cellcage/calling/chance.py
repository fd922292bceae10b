"""Seeds all random numbers of a notebook.

This seeds the global generators of Python, NumPy and PyTorch. It also determines the state of generators that are
created without a seed, such as `np.random.default_rng()`, `random.Random()` and `random.SystemRandom()`. Untrusted code
can still take randomness from the clock, or read it from the machine.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np

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
