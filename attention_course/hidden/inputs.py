"""Inputs for hidden tests: seeded, never symmetric. Scores lie between about -3 and 3, so a missing scale shows."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from autograder.testing import note, seed_of


def normal(seed: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Standard normal numbers of `shape`, fixed by `seed`; one seed of a test depends on the submission."""
    seed = seed_of(seed)
    numbers = np.random.default_rng(seed).normal(size=shape)
    note(numbers, f"np.random.default_rng({seed}).normal(size={shape})")
    return numbers.astype(dtype)


def chosen(usual: Any, *others: Any) -> Any:
    """`usual`, or one of `others` if this choice is the one that depends on the submission. For sizes and lists."""
    seed = zlib.crc32(repr((usual, *others)).encode())
    drawn = seed_of(seed)
    return usual if drawn == seed else others[drawn % len(others)]


def tensor(array: np.ndarray) -> Any:
    """The array as a PyTorch tensor with the same dtype, shape and layout."""
    import torch

    return torch.from_numpy(array)
