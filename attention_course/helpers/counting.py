"""What a function costs: arrays that count the multiplications of every `@` they are part of, and a clock.

millions, seconds = cost_of(write, text)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Counting(np.ndarray[Any, np.dtype[Any]]):
    """An array that counts. What is computed from it counts, too."""

    done = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *arrays: Any, **more: Any) -> Any:
        """Compute with plain arrays, and count if it is a matrix product."""
        plain = [np.asarray(array) for array in arrays]
        result = getattr(ufunc, method)(*plain, **more)
        if ufunc is np.matmul:
            Counting.done += result.size * plain[0].shape[-1]  # so many for each number of the result
        return result.view(Counting) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, args: Any, more: Any) -> Any:
        """What `np.concatenate` and others return counts, too."""
        result = super().__array_function__(function, types, args, more)
        return result.view(Counting) if isinstance(result, np.ndarray) else result


def cost_of(run: Callable[[Any], object], array: Any) -> tuple[float, float]:
    """How many million multiplications `run(array)` takes, and how many seconds. It runs twice."""
    begun = time.perf_counter()
    run(array)
    seconds = time.perf_counter() - begun
    Counting.done = 0
    run(array.view(Counting))
    return Counting.done / 1e6, seconds
