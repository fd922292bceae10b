"""Hidden tests of LRU."""

import pytest

from autograder.testing import expect

FULL = [("put", "a", 1), ("put", "b", 2), ("put", "c", 3)]


def after(who, steps, key, size=3):
    return who.LRU.use([*steps, ("get", key)], size)


@pytest.mark.exercise("LRU")
class TestLRU:
    @pytest.mark.weight(2)
    def test_what_was_put_is_there(self, student):
        """What was put is there, the last value for each key."""
        for key, value in {"a": 1, "c": 3, "d": None}.items():
            expect.equal(after(student, FULL, key), value, "What does `put` remember?")
        expect.equal(after(student, [*FULL, ("put", "c", 9)], "c"), 9, "Which of two values counts?")

    @pytest.mark.weight(2)
    def test_the_oldest_makes_room(self, student):
        """The fourth of three drops the first."""
        for key, value in {"a": None, "b": 2, "d": 4}.items():
            expect.equal(after(student, [*FULL, ("put", "d", 4)], key), value, "Which one is dropped?")

    def test_get_is_a_use(self, student):
        """What was read stays longer."""
        steps = [*FULL, ("get", "a"), ("put", "d", 4)]
        expect.equal(after(student, steps, "a"), 1, "What does `get` change?")
        expect.equal(after(student, steps, "b"), None, "What does `get` change?")

    def test_put_again_is_a_use(self, student):
        """So does what was put again, and nothing else is dropped for it."""
        steps = [*FULL, ("put", "a", 5), ("put", "d", 4)]
        expect.equal(after(student, steps, "a"), 5, "When was it used last?")
        expect.equal(after(student, [*FULL, ("put", "a", 5)], "b"), 2, "Does it need more room?")

    def test_length(self, student):
        """Never more than its size."""
        for size in (1, 2, 5):
            expect.equal(student.LRU.use([*FULL, ("len",)], size), min(size, 3), "How many are kept?")
