"""Visible tests of KeyValueCache, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, equal, expect, shown

# Five words, as two heads of keys (width 3) and of values (width 1) see them.
KEYS = np.array(
    [
        [[1.0, -1.0, 0.1], [2.0, -2.0, 0.2], [3.0, -3.0, 0.3], [4.0, -4.0, 0.4], [5.0, -5.0, 0.5]],
        [[10.0, 0.5, 6.0], [20.0, 1.0, 7.0], [30.0, 1.5, 8.0], [40.0, 2.0, 9.0], [50.0, 2.5, 3.0]],
    ]
)
VALUES = np.array([[[7.0], [8.0], [9.0], [6.0], [5.0]], [[70.0], [80.0], [90.0], [60.0], [50.0]]])


@pytest.mark.exercise("KeyValueCache")
class TestKeyValueCache:
    @staticmethod
    def words(keys, values):
        """The steps that append these words, one after the other."""
        return [("append", keys[..., n : n + 1, :], values[..., n : n + 1, :]) for n in range(keys.shape[-2])]

    def judge(self, student, question, left, keys, values, window=None, sinks=0):
        """After all these words, those whose numbers are in `left` are kept, and `len` is how many they are."""
        call = {"key": keys[..., -1:, :], "value": values[..., -1:, :], "window": window, "sinks": sinks}
        with shown(question, "shape", **call):
            got = student.KeyValueCache.use(self.words(keys, values), window, sinks)
            if not isinstance(got, tuple) or len(got) != 2:
                expect.fail(f"append returned {expect.kind_of(got)}, not the tuple (K, V).", symptom="kind")
            for part, given, what in zip(got, (keys, values), "KV", strict=True):
                close(expect.array(part, what=what), given[..., left, :], what)
        with shown("How many words are in K now, and along which axis do they stand?", **call):
            length = student.KeyValueCache.use([*self.words(keys, values), ("len",)], window, sinks)
            equal(length, len(left), "len")

    def test_empty(self, student):
        """A new cache has length 0."""
        with shown("What does __init__ put into self, before there is any word?", "exception", "shape"):
            equal(student.KeyValueCache.use([("len",)]), 0, "len of a new cache")

    def test_first_word(self, student):
        """After the first word there is one in the cache."""
        self.judge(student, "What is in a new cache?", [0], KEYS[:, :1], VALUES[:, :1])

    def test_new_cache(self, student):
        """Three words, then `__init__` once more: the cache is empty again."""
        with shown("What does a cache hold that was made just now?"):
            steps = [*self.words(KEYS[:, :3], VALUES[:, :3]), ("__init__",), ("len",)]
            equal(student.KeyValueCache.use(steps), 0, "len of a new cache")

    def test_everything(self, student):
        """Five words and no window: all of them, in their order."""
        self.judge(student, "Where does the newest word go, along which axis?", [0, 1, 2, 3, 4], KEYS, VALUES)

    def test_window(self, student):
        """Five words, a window of 2: the last two."""
        self.judge(student, "Which words does no later word look at?", [3, 4], KEYS, VALUES, 2)

    def test_by_hand(self, student):
        """The example by hand: after two and three words all are there, after five the first and the last two."""
        question = "Which one is a sink, and which are the last two?"
        self.judge(student, question, [0, 1], KEYS[:, :2], VALUES[:, :2], 2, 1)
        self.judge(student, question, [0, 1, 2], KEYS[:, :3], VALUES[:, :3], 2, 1)
        self.judge(student, question, [0, 3, 4], KEYS, VALUES, 2, 1)

    def test_two_sinks(self, student):
        """A window of 1 and two sinks, after each of four words."""
        question = "How many of the first words are kept, and from which word on is one forgotten?"
        for left in ([0], [0, 1], [0, 1, 2], [0, 1, 3]):
            words = left[-1] + 1
            self.judge(student, question, left, KEYS[:, :words], VALUES[:, :words], 1, 2)

    def test_two_texts(self, student):
        """Two texts at once, each with keys and values of its own."""
        keys, values = np.stack([KEYS, -KEYS]), np.stack([VALUES, -VALUES])
        self.judge(student, "Which axes does your code count from the front?", [0, 3, 4], keys, values, 2, 1)

    def test_long_text(self, student):
        """A hundred and twenty words: without a window all are kept, with a window of 2 and one sink three of them."""
        keys = np.arange(120.0).reshape(1, 120, 1)
        question = "Short texts come out right? Then which of your numbers is a size?"
        self.judge(student, question, [*range(120)], keys, keys + 0.5)
        self.judge(student, question, [0, 118, 119], keys, keys + 0.5, 2, 1)

    def test_equal_words(self, student):
        """The same word three times: three are kept."""
        keys, values = np.repeat(KEYS[:, :1], 3, axis=1), np.repeat(VALUES[:, :1], 3, axis=1)
        self.judge(student, "Is a word that came before a new word, or the same one?", [0, 1, 2], keys, values)

    def test_float32(self, student):
        """float32 gives float32, and the words that come in are as before."""
        with shown("Which line makes a new array, of which dtype?"):
            keys, values = KEYS.astype(np.float32), VALUES.astype(np.float32)
            for part in student.KeyValueCache.use(self.words(keys, values), 2, 1):
                expect.dtype(part, np.float32)
            after = student.KeyValueCache.inputs_after_use(self.words(keys, values), 2, 1)
            before = [part for _, *parts in self.words(keys, values) for part in parts]
            expect.unchanged(after, before, ("key", "value") * 5)
