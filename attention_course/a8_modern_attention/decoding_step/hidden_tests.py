"""Hidden tests of decoding_step."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, loosely


@pytest.mark.exercise("decoding_step")
class TestDecodingStep:
    """A step costs the work of one word: earlier words are not given, only their keys and values."""

    NAMES = ("x", "K", "V", "W_Q", "W_K", "W_V", "W_O", "num_heads")
    PARTS = ("output", "K", "V")

    @staticmethod
    def given(seed, words, h=6, g=2, batch=(), d=4, d_model=10):
        """A newest word, a cache of some words, and weights for heads of width d. No two sizes are equal."""
        x, cache = normal(seed, *batch, d_model), [normal(seed + i, *batch, g, words, d) for i in (1, 2)]
        size = 1.58 / d_model**0.5
        wide, narrow = (
            size * normal(seed + 3, d_model, d * h),
            [size * normal(seed + i, d_model, d * g) for i in (4, 5)],
        )
        return (
            x,
            *(cache if words else (None, None)),
            wide,
            *narrow,
            1.5 / (d * h) ** 0.5 * normal(seed + 6, d * h, d_model),
            h,
        )

    SMALL = given(900, 5)

    def step(self, student, *args, **more):
        """Output and cache as arrays."""
        ask = Unbatched(student.decoding_step, 1, 3, 3, 0)  # `test_shape` judges code for batches only
        got = ask(*args, **more)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (output, K, V).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Fails unless another word gives another output."""
        call = lambda *args: self.step(student, *args)  # noqa: E731
        responds(call, self.SMALL, [normal(910, 10)], self.NAMES)

    def compare(self, student, reference, hint, part, *cases):
        for args in cases:
            got, wanted = self.step(student, *args), reference.decoding_step(*args)
            expect.close(got[part], wanted[part], hint, self.PARTS[part], ATOL)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """A word of width 10 and a cache of 5 words: output (10,), K and V of 6 words, (2, 6, 4), as a tuple."""
        got = student.decoding_step(*self.SMALL)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (output, K, V).")
        for part, shape, what in zip(got, ((10,), (2, 6, 4), (2, 6, 4)), self.PARTS, strict=True):
            expect.shape(expect.array(part, what=what), shape, "One word comes in, one more is in the cache.", what)

    @pytest.mark.weight(0.22)
    def test_keys(self, student, reference):
        """The new key, turned by its position, stands behind those that were there."""
        hint = "At which position does the newest word stand, and which keys have been turned already?"
        self.compare(student, reference, hint, 1, self.given(915, 5), self.given(925, 3, 4, 4))

    @pytest.mark.weight(0.14)
    def test_values_in_the_cache(self, student, reference):
        """The new value stands behind those that were there, as it is."""
        hint = "Which matrix makes a value, which columns of it are a head's, and is a value turned?"
        self.compare(student, reference, hint, 2, self.given(935, 5), self.given(945, 3, 4, 4))

    @pytest.mark.weight(0.62)
    def test_output(self, student, reference):
        """The output: what the new word finds among all words so far, itself among them, times W_O."""
        hint = "Whom does the newest word attend to, with which query, and where do its heads' results go?"
        self.compare(
            student, reference, hint, 0, self.given(955, 5), self.given(965, 3, 4, 2), self.given(975, 7, 3, 1)
        )

    @pytest.mark.weight(0.2)
    def test_first_word(self, student, reference):
        """Before the first word there is no cache: it stands at position 0 and attends to itself."""
        args = self.given(985, 0)
        got, wanted = self.step(student, *args), reference.decoding_step(*args)
        for part, other, what in zip(got, wanted, self.PARTS, strict=True):
            expect.close(part, other, "K and V are None here. What is the cache afterwards?", what, ATOL)

    @pytest.mark.weight(0.14)
    def test_word_by_word(self, student):
        """Each step goes on from the cache that the one before gave: what is in it stays, word for word."""
        self.looks_like_an_attempt(student)
        hint = "What was in the cache before: is it there afterwards, at the beginning, as it was?"
        _, *rest = self.SMALL
        K, V = rest[:2]
        for number in range(2):  # the same word twice: it is in the cache twice
            _, new_K, new_V = self.step(student, normal(995, 10), K, V, *rest[2:])
            for new, old, what in ((new_K, K, "K"), (new_V, V, "V")):
                expect.shape(new, (2, 6 + number, 4), hint, what)
                expect.close(new[:, :-1], old, hint, f"what was in {what} before", ATOL)
            K, V = new_K, new_V

    @pytest.mark.weight(0.1)
    def test_who_is_heard(self, student):
        """Every word in the cache is heard, from the first to the last."""
        self.looks_like_an_attempt(student)
        before = self.step(student, *self.SMALL)[0]
        for word in (0, 4):
            V = self.SMALL[2].copy()
            V[:, word] += 5
            louder = (*self.SMALL[:2], V, *self.SMALL[3:])
            hint = "Is any word of the cache hidden from the newest one?"
            what = f"when the value of word {word} changes, the output"
            expect.differs(self.step(student, *louder)[0], before, hint, what)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each text has its own newest word and its own cache."""
        self.looks_like_an_attempt(student)
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            x, K, V, *weights = self.given(1005, 5, batch=batch)
            call = lambda x, K, V: self.step(student, x, K, V, *weights)  # noqa: B023, E731
            same_item_by_item(call, [x, K, V], axes, FROM_THE_END)

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """The 71st word of two texts, in eight heads; caches of 1, 16, 33, 64 and 4,200 words."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_keys, self.test_values_in_the_cache, self.test_output)
        long = self.given(1530, 70, 8, 2, (2,), 12, 96)
        short = self.given(1540, 1, 1, 1, (1,), 2, 1), self.given(1550, 16, 2, 1, (), 2, 2)
        longest = self.given(1590, 4200, 1, 1, (), 2, 3)  # a table of 4,096 ends before
        wide = self.given(1560, 33, 9, 9, (), 2, 3), self.given(1570, 64, 16, 8, (), 2, 8)
        for args in (long, *short, *wide, longest):
            wanted, got = reference.decoding_step(*args), self.step(student, *args)
            if plain:
                for part, other, what in zip(got, wanted, self.PARTS, strict=True):
                    expect.close(part, other, ANY_SIZE, what, ATOL)

    @pytest.mark.weight(0.08)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in all three, from the first word on."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            x, K, V, *weights = (array.astype(dtype) for array in self.SMALL[:-1])
            for cache in ((K, V), (None, None)):
                if cache[0] is None and not expect.holds(lambda: self.step(student, x, None, None, *weights, 6)):  # noqa: B023
                    continue  # another test judges the first word
                for part, what in zip(self.step(student, x, *cache, *weights, 6), self.PARTS, strict=True):
                    expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory; the cache that comes in stays as it is."""
        self.looks_like_an_attempt(student)
        x, K, V, *weights, h = self.SMALL
        views = (x, *(np.ascontiguousarray(part.swapaxes(-1, -2)).swapaxes(-1, -2) for part in (K, V)), *weights, h)
        by_name = self.step(student, **dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        for part, other, what in zip(by_name, self.step(student, *self.SMALL), self.PARTS, strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        after = student.decoding_step.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)
