"""Inputs for hidden tests: seeded, never symmetric. Scores lie between about -3 and 3, so a missing scale shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.testing import note


def normal(seed: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Standard normal numbers of `shape`, fixed by `seed`."""
    numbers = np.random.default_rng(seed).normal(size=shape)
    note(numbers, f"np.random.default_rng({seed}).normal(size={shape})")
    return numbers.astype(dtype)


def tensor(array: np.ndarray) -> Any:
    """The array as a PyTorch tensor with the same dtype, shape and layout."""
    import torch

    return torch.from_numpy(array)
