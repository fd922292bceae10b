"""Hidden tests of attention_in_cache."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, nothing_for_the_rest, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, LARGE, loosely


@pytest.mark.exercise("attention_in_cache")
class TestAttentionInCache:
    """The query is the newest word's, and no argument has been rotated."""

    NAMES = ("query", "K", "V", "sink_logits")
    PARTS = ("output", "weights")

    @staticmethod
    def given(seed, words, h=3, d=4, d_v=6, batch=()):
        """A query and a cache of some words. No two sizes are equal."""
        shapes = (h, d), (h, words, d), (h, words, d_v)
        return tuple(normal(seed + i, *batch, *shape) for i, shape in enumerate(shapes))

    SMALL = given(1600, 7)
    SINKS = normal(1603, 3)

    def both(self, student, *args, **more):
        """Output and weights as arrays."""
        ask = Unbatched(student.attention_in_cache, 2, 3, 3, 0)  # `test_shape` judges code for batches only
        output, weights = expect.pair(ask(*args, **more))
        return loosely(output), loosely(weights)

    def looks_like_an_attempt(self, student):
        """Fails unless another query gives another answer."""
        call = lambda *args: self.both(student, *args)  # noqa: E731
        responds(call, self.SMALL, [normal(1605, 3, 4)], self.NAMES)

    def compare(self, student, reference, hint, part, *cases):
        for args in cases:
            got, wanted = self.both(student, *args)[part], reference.attention_in_cache(*args)[part]
            expect.close(got, wanted, hint, self.PARTS[part], ATOL)

    def cases(self):
        return self.given(1610, 7), self.given(1620, 4, 2, 6, 10), self.given(1630, 10, 5, 2, 4)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """A query of three heads, and seven words: output (3, 6) and weights (3, 7), as a tuple."""
        got = expect.pair(student.attention_in_cache(*self.SMALL))
        for part, shape, what in zip(got, ((3, 6), (3, 7)), self.PARTS, strict=True):
            expect.shape(expect.array(part, what=what), shape, "How many words ask, and how many answer?", what)

    @pytest.mark.weight(0.3)
    def test_weights(self, student, reference):
        """The weights in caches of seven, four and ten words: queries and keys are rotated by places in the cache."""
        hint = "At which place in the cache does each key stand, and at which the query?"
        self.compare(student, reference, hint, 1, *self.cases())

    @pytest.mark.weight(0.5)
    def test_output(self, student, reference):
        """The output of the same caches: the values as they came, by their weights."""
        hint = "What is rotated, and by what? What do the weights blend?"
        self.compare(student, reference, hint, 0, *self.cases())

    @pytest.mark.weight(0.1)
    def test_one_word(self, student, reference):
        """One word in the cache: it stands at place 0 and sees itself."""
        self.looks_like_an_attempt(student)
        self.compare(student, reference, "With one word, what is the output?", 0, self.given(1640, 1))

    @pytest.mark.weight(0.2)
    def test_sink_logits(self, student, reference):
        """A sink logit for each head takes its part of the weight."""
        hint = "With a sink logit, what stands below the fraction bar of a weight? Does anything else change?"
        self.with_sinks(student, reference, hint, 1)

    @pytest.mark.weight(0.2)
    def test_sinks_give_nothing(self, student, reference):
        """What has gone into a sink is missing in the output: it has no value."""
        hint = "With a sink logit, what do the weights of a head sum to, and what does the sink add to the output?"
        self.with_sinks(student, reference, hint, 0)

    def with_sinks(self, student, reference, hint, part):
        """Judges one part of the answer with sink logits. If it is wrong without any, only properties are judged."""
        self.looks_like_an_attempt(student)
        if holds_in(student, reference, self.test_weights, self.test_output):
            few = (*self.given(1650, 4, 2, 6, 8), normal(1653, 2) + 1)
            many = (*self.given(1655, 33, 8, 4, 6), normal(1658, 8))
            self.compare(student, reference, hint, part, (*self.SMALL, self.SINKS), few, many)
            hint = "A sink logit of 0 is a number like any other: what is e to the power of 0?"
            self.compare(student, reference, hint, part, (*self.SMALL, 0 * self.SINKS))
        else:  # other tests fail for what is wrong without sinks
            self.takes_a_part(student, hint, part)

    def takes_a_part(self, student, hint, part):
        """Fails unless a head's numbers shrink in proportion, and a sink with a very low logit changes nothing."""
        what = self.PARTS[part]
        without = self.both(student, *self.SMALL)[part]
        much_less = self.both(student, *self.SMALL, np.full(3, -LARGE))[part]
        expect.close(much_less, without, hint, f"with sink logits of -10,000, {what}", ATOL)
        found = self.both(student, *self.SMALL, self.SINKS)[part]
        expect.shape(found, without.shape, hint, f"with sink logits, {what}")
        share = found.sum(axis=-1, keepdims=True) / without.sum(axis=-1, keepdims=True)
        expect.close(found, share * without, hint, f"with sink logits, {what}", ATOL)
        expect.differs(share, np.ones_like(share), hint, f"with sink logits, the sum of {what}")

    @pytest.mark.weight(0.12)
    def test_large_scores(self, student, reference):
        """Scores and sink logits of 10,000 and -10,000 give finite numbers; far lower scores get no weight."""
        self.looks_like_an_attempt(student)
        query, K, V = self.SMALL
        hint = "Of which numbers is the largest taken off before np.exp?"
        for args in ((LARGE * query, K, V), (query, K, V, self.SINKS + LARGE), (LARGE * query, K, V, self.SINKS)):
            for part, what in zip(self.both(student, *args), self.PARTS, strict=True):
                expect.finite(part, hint, what)
        if holds_in(student, reference, self.test_weights):
            nothing_for_the_rest(self.both(student, LARGE * query, K, V)[1])

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each text has its own query and its own cache; sink logits belong to heads."""
        self.looks_like_an_attempt(student)
        for axes, batch in ((1, (4,)), (2, (2, 4))):
            given = self.given(1660, 6, batch=batch)
            call = lambda query, K, V: self.both(student, query, K, V)  # noqa: E731
            same_item_by_item(call, given, axes, FROM_THE_END)

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """A cache of 70 words in eight heads of width 12, two texts; caches of 1, 16, 33, 64 and 4,200 words."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_weights, self.test_output)
        long, wide = self.given(1670, 70, 8, 12, 12, (2,)), self.given(1700, 33, 9, 16, 16)
        short = self.given(1680, 1, 1, 2, 1, (1,)), self.given(1690, 16, 2, 2, 1)
        longest = self.given(1720, 4200, 1, 2, 1)  # a table of 4,096 ends before
        for args in (long, *short, wide, self.given(1710, 64, 16, 8, 3), longest):
            got, wanted = self.both(student, *args), reference.attention_in_cache(*args)
            if plain:
                for part, other, what in zip(got, wanted, self.PARTS, strict=True):
                    expect.close(part, other, ANY_SIZE, what, ATOL)

    @pytest.mark.weight(0.08)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, with sink logits and without."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            given = [array.astype(dtype) for array in (*self.SMALL, self.SINKS)]
            for args in (given[:3], given):
                for part, what in zip(self.both(student, *args), self.PARTS, strict=True):
                    expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_inputs_left_alone(self, student):
        """Arguments may come by keyword and with any layout in memory, and hold what they held before."""
        self.looks_like_an_attempt(student)
        query, K, V = self.SMALL
        views = (query, *(np.ascontiguousarray(part.swapaxes(-1, -2)).swapaxes(-1, -2) for part in (K, V)))
        by_name = self.both(student, **dict(reversed(list(zip(self.NAMES[:3], views, strict=True)))))
        for part, other, what in zip(by_name, self.both(student, *self.SMALL), self.PARTS, strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        given = (*views, self.SINKS)
        expect.unchanged(student.attention_in_cache.inputs_after(*given), given, self.NAMES, IN_PLACE)
