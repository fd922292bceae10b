"""The cost of a function: its seconds, and the multiplications in its matrix products, counted by the arrays.

millions, seconds = cost_of(write, text)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Counting(np.ndarray[Any, np.dtype[Any]]):
    """An array that counts multiplications, as do all arrays computed from it."""

    done = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *arrays: Any, **more: Any) -> Any:
        """Compute with plain arrays; count the multiplications of a matrix product."""
        plain = [np.asarray(array) for array in arrays]
        result = getattr(ufunc, method)(*plain, **more)
        if ufunc is np.matmul:
            Counting.done += result.size * plain[0].shape[-1]  # one product of a row and a column for each number
        return result.view(Counting) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, args: Any, more: Any) -> Any:
        """Results of functions such as `np.concatenate` count, too."""
        result = super().__array_function__(function, types, args, more)
        return result.view(Counting) if isinstance(result, np.ndarray) else result


def cost_of(run: Callable[[Any], object], array: Any) -> tuple[float, float]:
    """The million multiplications and the seconds of `run(array)`, which runs twice."""
    begun = time.perf_counter()
    run(array)
    seconds = time.perf_counter() - begun
    Counting.done = 0
    run(array.view(Counting))
    return Counting.done / 1e6, seconds
