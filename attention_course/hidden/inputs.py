"""Inputs for suites: seeded, nothing symmetric, scores between about -3 and 3 so that a missing scale shows."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from autograder.testing import note, seed_of


def normal(seed: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Standard normal numbers of `shape`, the same for the same `seed`; of one seed a submission gets its own."""
    seed = seed_of(seed)
    made = np.random.default_rng(seed).normal(size=shape)
    note(made, f"np.random.default_rng({seed}).normal(size={shape})")
    return made.astype(dtype)


def chosen(usual: Any, *others: Any) -> Any:
    """`usual`, such as a size, which no seed draws; one of `others` for a submission that gets its own here."""
    seed = zlib.crc32(repr((usual, *others)).encode())
    drawn = seed_of(seed)
    return usual if drawn == seed else others[drawn % len(others)]


def tensor(array: np.ndarray) -> Any:
    """The array as a PyTorch tensor with the same dtype, shape and layout."""
    import torch

    return torch.from_numpy(array)
