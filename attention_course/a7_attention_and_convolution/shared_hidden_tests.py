"""What the hidden tests of a7 share.

Sizes differ: L=9, k=3 or 5, d_in=4, d_out=3. A kernel may be split between W_V and W_O in any way, so heads are judged
by the product of the two. Values are judged where every tap meets a word. The borders have tests of their own, which
use properties of the student's own function. A test's weight is its points; together they are the points of the cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ATOL = 1e-4  # correct float32 code is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away


def are_numbers(got: Any) -> bool:
    """True for a list, a tuple or a one-dimensional array of numbers."""
    if isinstance(got, np.ndarray):
        return got.ndim == 1 and got.dtype.kind in "if"
    return isinstance(got, list | tuple) and all(isinstance(n, int | float | np.integer | np.floating) for n in got)
