"""What the hidden tests of a2 share. Sizes differ wherever the exercise allows it.

A leak through a mask is found by its influence: a huge number is put where nobody may look, and nothing may change. A
test's weight is its points; together they are the points of the cell.
"""

import contextlib

import numpy as np

from autograder.testing import expect

from ..hidden.inputs import normal
from ..hidden.properties import keeps_digits, nothing_for_the_rest, responds
from ..hidden.unbatched import Unbatched

LARGE = 1e4  # exp(1e4) overflows even float64
HUGE = 1e6  # the largest score that the course promises
FAR = 1e5  # keys of this size give scores of at most a few 1e5
# Correct float32 code with log-sum-exp is off by 2e-4 at 10,000; clipped or overflown scores by 0.1 and more.
AT_LARGE = 1e-2
DTYPES = (np.float32, np.float64)
TRUTH = "What does ~ make of True, and what of the number 1?"
BY_NAME = "The names of the arguments are those in the first line you were given."


def all_low(seed, length, keys, width):
    """Queries and keys whose scores are all low: about -850,000."""
    Q, K = 1 + 0.03 * normal(seed, length, width), 1 + 0.03 * normal(seed + 1, keys, width)
    return Q, -0.85 * HUGE / np.sqrt(width) * K


def table(*rows):
    """A mask from rows of ones and zeros."""
    return np.array([[letter == "1" for letter in row] for row in rows])


def any_mask(seed, length, keys):
    """A mask of any size that allows about half of the places, and at least one key for each query."""
    mask = normal(seed, length, keys) > 0
    mask[:, keys // 2] = True
    return mask


# Not symmetric. Every row allows something and hides something; empty rows have tests of their own.
MASK = table("100110", "011011", "000010", "111000")
OTHER_MASK = table("011100", "110010", "100101", "001011")
SQUARE = table("1010", "0110", "1001", "0111")  # as many queries as keys, so that a transposed mask fits, too
PADDING = table("111000", "111110")[:, None, :]  # (2, 1, 6)
ALL_KEYS = np.ones((4, 1), dtype=bool)  # the keys have one entry for all of them
ONE_EMPTY = table("100110", "000000", "000010", "111000")  # MASK, but nothing is allowed for query 1


def loosely(got):
    """`got` as numbers, whether array, tensor or list of rows. Another test judges which of these it is."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


def some_in_between(weights):
    """Fails unless the weights are finite and not only 0 and 1, as a mask is."""
    expect.finite(weights, what="the weights")
    if not np.any((weights > 1e-3) & (weights < 1 - 1e-3)):
        expect.fail("no weight lies between 0 and 1, though there are queries that may attend to several keys.")


def zero_where(hidden, got, hint, what):
    """Fails unless hidden entries are exactly zero, as the stub says. NaN has a message of its own."""
    expect.finite(np.where(hidden, got, 0), "Which numbers go into np.exp here, and what is divided by what?", what)
    wrong = np.argwhere(hidden & ~(got == 0))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        expect.fail(f"{what} at {list(place)} is {float(got[place]):.4g}, it should be exactly 0.", hint)


def all_zero(got, hint, what):
    """Fails unless everything is finite, which has a message of its own, and exactly zero."""
    expect.finite(got, hint, what)
    zero_where(np.ones(got.shape, dtype=bool), got, hint, what)


def winners_take_all(weights, hint):
    """Fails unless scores thousands apart give weights of 0 and 1: no ties, and no floor under all weights."""
    between = np.minimum(np.abs(weights), np.abs(weights - 1.0)) > AT_LARGE
    if between.any():
        expect.fail("with scores that lie thousands apart, the largest should take all the weight.", hint)
    nothing_for_the_rest(weights)


def no_row_vanishes(weights, ordinary, hint):
    """Fails if a row that sums to 1 with ordinary scores becomes zero, as after dividing 0 by a guarded 0."""
    totals = weights.sum(axis=-1)
    gone = (totals < AT_LARGE) & (ordinary.sum(axis=-1) > 0.99)
    if gone.any():
        expect.fail(f"a query that may attend to something has weights that sum to {float(totals[gone][0]):.4g}.", hint)


class AttentionTests:
    """Tests of both attention exercises.

    Only `test_shape` asks for a tuple. Only it, `test_weights` and `test_output` ask for the right kind of array. The
    others accept anything with numbers, so that a list, missing weights, or an array in place of a tensor costs those
    tests and not all. Output and weights are identified by shape: no two shapes are equal.
    """

    NAME = ""
    NAMES: tuple[str, ...] = ()
    SMALL: tuple[np.ndarray, ...] = ()  # queries, keys, values (and mask) without batch axes
    OTHERS: tuple[np.ndarray, ...] = ()  # others of the same shapes
    LOW = "Scores are very low here. What makes a masked weight 0 in your code, and what is left of the others?"
    NOTHING = "Follow a row in which every key is masked through your softmax."

    def give(self, array):
        """The array in the form that this exercise takes."""
        return array

    def kind(self, got, what):
        """One part of an answer as numbers. Fails unless it is the kind of array that this exercise asks for."""
        return expect.array(got, what=what)

    def function(self, student):
        """The student's function. If it takes batches only, it gets a batch of one; `test_shape` judges that."""
        return Unbatched(getattr(student, self.NAME), 2)

    def ask(self, student, *arrays):
        return self.function(student)(*map(self.give, arrays))

    def parts(self, got, Q, K, V):
        """Output and weights unchanged, identified by shape, or only the output if there are no weights."""
        values = got if isinstance(got, tuple | list) and got else (got,)
        shapes = [(*Q.shape[:-1], V.shape[-1]), (*Q.shape[:-1], K.shape[-2])][: len(values)]
        found = []
        for value, shape, what in zip(values, shapes, ("output", "weights"), strict=False):
            part = next((v for v in values if tuple(getattr(v, "shape", ())) == shape), value)
            expect.shape(loosely(part), shape, what=what)
            found.append(part)
        return found

    def attend(self, student, *arrays):
        """Output and weights as numbers, or only the output if there are no weights."""
        return [loosely(part) for part in self.parts(self.ask(student, *arrays), *arrays[:3])]

    def looks_like_attention(self, student):
        """Fails unless every argument matters and equal calls give equal answers."""
        responds(lambda *a: tuple(self.attend(student, *a)), self.SMALL, self.OTHERS, self.NAMES)
        for weights in self.attend(student, *self.SMALL)[1:]:
            some_in_between(weights)

    def same(self, got, wanted, hint, where=""):
        """Fails unless two answers agree in the output and, if there are any, in the weights."""
        for part, expected, what in zip(got, wanted, ("output", "weights"), strict=False):
            expect.close(part, expected, hint, what + where)

    def check_shape(self, student, output_shape, weights_shape):
        got = getattr(student, self.NAME)(*map(self.give, self.SMALL))
        output, weights = expect.pair(got)
        if [getattr(part, "shape", ()) for part in got] == [weights_shape, output_shape]:
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        expect.shape(self.kind(output, "output"), output_shape, "One row per query.", "output")
        expect.shape(self.kind(weights, "weights"), weights_shape, "One row per query, one column per key.", "weights")

    def check_weights(self, student, arrays, wanted):
        hint = "Row i belongs to query i and sums to 1. Which keys take part in it, and what is a score divided by?"
        got = self.parts(self.ask(student, *arrays), *arrays[:3])
        if len(got) < 2:
            expect.pair(got[0])
        expect.close(self.kind(got[1], "weights"), wanted, hint, "weights")

    def check_output(self, student, arrays, wanted):
        hint = "Each output row blends the values that its query may see. Which numbers say how much of each?"
        output = self.parts(self.ask(student, *arrays), *arrays[:3])[0]
        expect.close(self.kind(output, "output"), wanted, hint, "output")

    def check_large(self, student, Q, *others):
        hint = "What could be subtracted from a row of scores before exp without changing its weights?"
        for dtype in DTYPES:
            arrays = [a if a.dtype == bool else a.astype(dtype) for a in (LARGE * Q, *others)]
            for part, what in zip(self.attend(student, *arrays), ("output", "weights"), strict=False):
                expect.finite(part, hint, what)
                if what == "weights":
                    winners_take_all(part, hint)
                    no_row_vanishes(part, self.attend(student, Q, *others)[-1], hint)

    def check_low(self, student, arrays, hidden, only):
        """Fails unless, with very low scores, hidden keys still have weight 0 and visible keys do not.

        Then all scores but those of key `only`, the only one that some query sees, are very high. Code that cannot
        handle such scores without a mask loses points in `test_large_scores` only.
        """
        Q, K, V, *rest = arrays
        for keys in (K, np.where(np.arange(len(K)) == only, 1, -1)[:, None] * K):
            if not self.stands(student, Q, keys, V):
                return
            for weights in self.attend(student, Q, keys, V, *rest)[1:]:
                zero_where(hidden, weights, self.LOW, "the weight of a masked key")
                no_row_vanishes(weights, self.attend(student, *self.SMALL)[-1], self.LOW)

    def stands(self, student, Q, K, V):
        """True if the last query, which sees all keys, has weights for such scores."""
        weights = self.attend(student, Q, K, V)[-1]
        return bool(np.isfinite(weights).all() and weights[-1].any())

    def check_dtype(self, student, *arrays):
        hint = "Of which type are the numbers and arrays you make yourself?"
        for dtype in DTYPES:
            given = [a if a.dtype == bool else a.astype(dtype) for a in arrays]
            for part, what in zip(self.attend(student, *given), ("output", "weights"), strict=False):
                expect.dtype(part, dtype, hint, what)
                keeps_digits(part, what)

    def check_inputs(self, student, *arrays):
        given = [self.give(array) for array in arrays]
        after = self.function(student).inputs_after(*given)
        hint = "Look for operators like /= and &=, and for names that end in _, on an argument."
        expect.unchanged(after, given, self.NAMES, hint)
        copied = self.attend(student, *map(np.ascontiguousarray, arrays))
        self.same(self.attend(student, *arrays), copied, "Does it matter to your code how memory is laid out?")

    def check_names(self, student, *arrays):
        named = dict(reversed(list(zip(self.NAMES, map(self.give, arrays), strict=False))))
        got = self.parts(self.function(student)(**named), *arrays[:3])
        self.same(map(loosely, got), self.attend(student, *arrays), BY_NAME)
