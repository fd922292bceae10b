"""Hidden tests of KeyValueCache."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds, same_item_by_item
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, loosely


@pytest.mark.exercise("KeyValueCache")
class TestKeyValueCache:
    """Each call makes a cache, appends some words, and returns the result of the last method."""

    KEYS, VALUES = normal(1030, 2, 9, 4), normal(1031, 2, 9, 3)  # nine words, two heads of keys and values

    @staticmethod
    def words(keys, values, count):
        """The steps that append the first words, one after the other."""
        return [("append", keys[..., n : n + 1, :], values[..., n : n + 1, :]) for n in range(count)]

    def raw(self, student, *limits, count=9, **more):
        """The unchanged result of appending the last of the first words."""
        return student.KeyValueCache.use(self.words(self.KEYS, self.VALUES, count), *limits, **more)

    def kept(self, student, *limits, count=9, keys=KEYS, values=VALUES, **more):
        """K and V after the first words, as arrays."""
        return self.parts(student.KeyValueCache.use(self.words(keys, values, count), *limits, **more))

    def parts(self, got):
        """The result of `append` as two arrays."""
        if not isinstance(got, tuple | list) or len(got) != 2:
            expect.fail(f"append returned {expect.kind_of(got)}, not the tuple (K, V).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Fails unless other words give another result."""
        call = lambda keys, values: self.kept(student, count=5, keys=keys, values=values)  # noqa: E731
        responds(call, [self.KEYS, self.VALUES], [normal(1032, 2, 9, 4), normal(1033, 2, 9, 3)], ("key", "value"))

    def compare(self, student, reference, hint, *cases, **words):
        for window, sinks, count in cases:
            wanted = self.kept(reference, window, sinks, count=count, **words)
            got = self.kept(student, window, sinks, count=count, **words)
            for part, other, what in zip(got, wanted, "KV", strict=True):
                expect.close(part, other, hint, what, ATOL)

    @pytest.mark.weight(0.14)
    def test_shape(self, student):
        """Nine words, no window: K (2, 9, 4) and V (2, 9, 3), as a tuple."""
        got = self.raw(student)
        if not isinstance(got, tuple) or len(got) != 2:
            expect.fail(f"append returned {expect.kind_of(got)}, not the tuple (K, V).")
        for part, shape, what in zip(got, ((2, 9, 4), (2, 9, 3)), "KV", strict=True):
            expect.shape(expect.array(part, what=what), shape, "One more word at a time. Along which axis?", what)

    @pytest.mark.weight(0.36)
    def test_everything(self, student, reference):
        """Without a window every word is kept, in its order, also one that came before."""
        hint = "Where does the newest word go, and what becomes of those before it?"
        self.compare(student, reference, hint, (None, 0, 1), (None, 0, 5), (None, 2, 4))
        again = {"keys": self.KEYS[:, [0, 1, 0, 0, 2]], "values": self.VALUES[:, [0, 1, 3, 0, 2]]}
        hint = "Some of these words have equal keys. Is a word that came before a new word, or the same one?"
        self.compare(student, reference, hint, (None, 0, 5), (3, 1, 5), **again)

    @pytest.mark.weight(0.3)
    def test_window(self, student, reference):
        """With a window, the last words are kept and no others."""
        hint = "After nine words, with a window of 4: which are the last four?"
        self.compare(student, reference, hint, (4, 0, 9), (3, 0, 5), (1, 0, 4))

    @pytest.mark.weight(0.3)
    def test_sinks(self, student, reference):
        """With sinks, the first words are kept beside the last ones, each of them once."""
        hint = "After nine words, with a window of 3 and two sinks: which five are left? And after four words?"
        self.compare(student, reference, hint, (3, 2, 9), (2, 1, 4), (1, 3, 6), (4, 2, 5))

    @pytest.mark.weight(0.2)
    def test_length(self, student):
        """len(cache) is how many words are kept: 0 at first, and never more than window and sinks together."""
        self.looks_like_an_attempt(student)
        for limits, count in (((), 0), ((), 5), ((3, 1), 2), ((3, 1), 9)):
            steps = [*self.words(self.KEYS, self.VALUES, count), ("len",)]
            got = student.KeyValueCache.use(steps, *limits)
            if type(got) is not int:
                expect.fail(f"len returned {expect.kind_of(got)}, not an int.")
            held = self.kept(student, *limits, count=count)[0].shape[-2] if count else 0
            if got != held:
                expect.fail(f"len gave {got}, where {held} words are kept.", "Of what is it to be the number?")
        long = normal(1037, 1, 257, 1)
        got, held = (student.KeyValueCache.use([*self.words(long, long, 257), *last]) for last in ([("len",)], []))
        if got != (kept := self.parts(held)[0].shape[-2]):
            expect.fail(f"len gave {got}, where {kept} words are kept.", "How far does your count go?")

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """71 words in two texts of eight heads; 64 words through a window of 33 with 16 sinks; 521 words; two."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_everything, self.test_window, self.test_sinks)
        long = {"keys": normal(1580, 2, 8, 71, 3), "values": normal(1581, 2, 8, 71, 2)}
        wide = {"keys": normal(1582, 1, 64, 16), "values": normal(1583, 1, 64, 16)}
        tiny = {"keys": normal(1584, 9, 2, 1), "values": normal(1585, 9, 2, 1)}
        longest = {"keys": normal(1586, 1, 521, 1), "values": normal(1587, 1, 521, 1)}
        for words, window, sinks, count in (
            (long, None, 0, 71),
            (longest, None, 0, 521),
            (longest, 300, 0, 521),
            (wide, 33, 16, 64),
            (tiny, None, 1, 2),
            (tiny, 1, 1, 2),
        ):
            wanted = self.kept(reference, window, sinks, count=count, **words)
            got = self.kept(student, window, sinks, count=count, **words)
            if plain:
                for part, other, what in zip(got, wanted, "KV", strict=True):
                    expect.close(part, other, ANY_SIZE, what, ATOL)

    @pytest.mark.weight(0.2)
    def test_each_its_own(self, student):
        """A new cache is empty, whatever other caches hold, and takes words of other sizes."""
        self.looks_like_an_attempt(student)
        words = self.words(self.KEYS, self.VALUES, 3)
        alone = self.parts(student.KeyValueCache.use([*words, ("__init__",), words[0]]))  # a new cache
        for part, what in zip(alone, "KV", strict=True):
            hint = "What is made once for the class, and what in __init__, for each object?"
            expect.shape(part, (2, 1, part.shape[-1]), hint, f"after the first word of a new cache, {what}")
        for few, many in ((normal(1034, 1, 2, 5), normal(1035, 3, 2, 4, 6)), (normal(1036, 3, 2, 4, 6), self.KEYS)):
            first, then = [*self.words(few, few, 2), ("__init__",)], self.words(many, many, 4)
            wanted, got = (self.parts(student.KeyValueCache.use(steps)) for steps in (then, [*first, *then]))
            for part, other, what in zip(got, wanted, "KV", strict=True):
                expect.close(part, other, hint, f"in a new cache of other words, {what}", ATOL)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each text has its own keys and values."""
        self.looks_like_an_attempt(student)
        call = lambda keys, values: self.kept(student, 3, 1, count=6, keys=keys, values=values)  # noqa: E731
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            given = normal(1040, *batch, 2, 6, 4), normal(1041, *batch, 2, 6, 3)
            same_item_by_item(call, given, axes, FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in K and V."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            given = {"keys": self.KEYS.astype(dtype), "values": self.VALUES.astype(dtype)}
            for count in (1, 9):
                for part, what in zip(self.kept(student, 3, 1, count=count, **given), "KV", strict=True):
                    expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """window and sinks may come by keyword, and the words that come in stay as they are."""
        self.looks_like_an_attempt(student)
        by_name = self.kept(student, sinks=1, window=3)
        for part, other, what in zip(by_name, self.kept(student, 3, 1), "KV", strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        steps = self.words(self.KEYS, self.VALUES, 6)
        before = [part for _, *parts in steps for part in parts]
        expect.unchanged(student.KeyValueCache.inputs_after_use(steps, 3, 1), before, ("key", "value") * 6, IN_PLACE)
