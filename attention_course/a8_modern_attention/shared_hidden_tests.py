"""What the hidden tests of a8 share: bounds, and hints that several of them use.

Sizes differ: h=6 query heads, 2 or 3 heads of keys and values, L=5, S=7, d_k=4, d_v=3; `test_real_sizes` has real sizes
and the smallest ones. Values are judged against the reference, refinements by properties of the student's own function.
A test's weight is its points; together they are the points of the cell.
"""

import contextlib

import numpy as np

from autograder.testing import expect

ATOL = 1e-4  # correct float32 code is within 1e-5 of the float64 reference, the mildest known mistake 0.01 away
LARGE = 1e4  # exp(1e4) overflows even float64
LOUD = 1e5  # put where nobody may look
BY_NAME = "The names of the arguments are those in the first line you were given."
IN_PLACE = "Look for operators like *= on an argument, and for writing into one."
DTYPE = "Is an array made on the way, and of which dtype?"
FROM_THE_END = "Which axis does your code count from the front?"


def loosely(got):
    """`got` as numbers, whether array, tensor or list of rows. One test asks for an array."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)
