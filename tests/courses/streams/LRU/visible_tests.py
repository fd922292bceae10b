"""Visible tests of LRU, for students to read."""

import pytest

from autograder.testing import equal, shown

PAGES = [("put", "home", 1), ("put", "news", 2)]


@pytest.mark.exercise("LRU")
class TestLRU:
    def test_room_for_two(self, student):
        """A third page drops the one that was not used for the longest time."""
        with shown("In which order were they used?"):
            equal(student.LRU.use([*PAGES, ("put", "help", 3), ("get", "home")], 2), None)
            equal(student.LRU.use([*PAGES, ("get", "home"), ("put", "help", 3), ("get", "home")], 2), 1)
            equal(student.LRU.use([*PAGES, ("put", "home", 4), ("put", "help", 3), ("get", "home")], 2), 4)

    def test_length(self, student):
        """Two at most."""
        with shown("How many are kept?"):
            equal(student.LRU.use([*PAGES, ("put", "help", 3), ("len",)], 2), 2)
