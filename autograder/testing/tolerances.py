"""How far numbers may be off, by purpose.

Honest float32 work is within 3e-6 of the reference on ordinary values, and within 2e-4 at large scores. Honest float64
work is within 1e-14, but `torch.sqrt(torch.tensor(64))` is a float32 and moves the answer by 1e-7, a table kept in
float32 by 1e-6, and an epsilon in a denominator by 1e-8. The mildest known mistake is 0.01 away.
"""

from __future__ import annotations

import numpy as np

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

# By `expect.close`, which authors may tell another one.
CHECKED = {"float64": 1e-6, "float32": 1e-4, "complex128": 1e-6}
WITHIN = CHECKED["float64"]  # numbers without a dtype: in the rows of `cases`, and in the cells of tables
VISIBLE = 1e-4  # the literals of a visible test are rounded to four digits after the point
DIFFERENT = 1e-6  # the answers to two different calls, which should be further apart

# Two answers to one call: a test that passes with one of them passes with the other.
ANSWERS = {FLOAT32: 1e-3, FLOAT64: 3e-6, np.dtype(complex): 3e-6}
COARSE = 1e-3  # arrays of any other dtype, or of two dtypes
WHOLE = 1e-7  # whole numbers beside those that a relation makes of the right ones
# Of the largest number in an array: what the order of additions changes. Mistakes change more, or make other zeros.
ROUNDING = {FLOAT32: 2e-6, FLOAT64: 4e-15}

# Fingerprints, beside a share of large ones. In another order of operations, those of float64 answers differ by 1e-12,
# or by 1e-6 if a root is kept in float32. Those of different answers differ by 1 on average.
FINGERPRINT, OF_LARGE = 1e-4, 1e-2
COARSER = 100  # float32 answers are divided by it first

MADE = 1e-6  # an input beside what a line of code makes; float32 is within it
ELSEWHERE = 1e-3  # a wanted array beside one in another place of the answer
OF_A_GAP = 1 / 4  # of two numbers that should agree and do not, one is off by a quarter of their difference or more
