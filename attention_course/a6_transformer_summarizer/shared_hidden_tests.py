"""What the hidden tests of a6 share: bounds, and checks of numbers and lists.

The models are small (`hidden/models.py`), and nothing is trained. Sizes differ: B = 3, L = 11, V = 7. A test's weight
is its points; together they are the points of the cell.
"""

import numpy as np

from autograder.testing import expect

ATOL = 1e-4  # correct float32 code is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away
EXACT = 1e-6  # what must not count adds nothing; float32 may sum in another order
LARGE = 1e4  # exp(1e4) overflows even float64
LOUD = 300.0  # put where it must not count


def number(got):
    """`got` as a whole number, for tests that judge its value and not its type."""
    if hasattr(got, "detach"):
        got = got.detach().numpy()
    if isinstance(got, np.ndarray) and got.size == 1:
        got = got.reshape(())[()]
    if isinstance(got, float | np.floating) and float(got).is_integer():
        got = int(got)
    if isinstance(got, bool | np.bool_) or not isinstance(got, int | np.integer):
        expect.fail(f"returned {expect.kind_of(got)}, where a token id belongs.", "An id is one whole number.")
    return int(got)


def sequence(got, what):
    """`got` as a list, for tests that judge its values and not its type."""
    if hasattr(got, "detach"):
        got = got.detach().numpy()
    if isinstance(got, np.ndarray) and got.ndim == 1:
        got = got.tolist()
    if not isinstance(got, list | tuple):
        expect.fail(f"{what}: this is {expect.kind_of(got)}, where a list belongs.")
    return list(got)


def same_list(got, wanted, hint, what):
    """Fails unless the lengths are equal, and then each entry. Messages do not show the expected length or entries."""
    if len(got) != len(wanted):
        expect.fail(f"{what} has {len(got)} entries; that is not right.", hint)
    for place, (actual, expected) in enumerate(zip(got, wanted, strict=True)):
        if actual != expected:
            expect.fail(f"{what}[{place}] is {actual}, which is not right.", hint)


def texts(seed, *lengths, vocab_size=23):
    """Token ids, one list for each length."""
    random = np.random.default_rng(seed)
    return [random.integers(0, vocab_size, size=length).tolist() for length in lengths]
