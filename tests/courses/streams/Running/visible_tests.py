"""Visible tests of Running, for students to read."""

import pytest

from autograder.testing import close, equal, shown


@pytest.mark.exercise("Running")
class TestRunning:
    def test_three_numbers(self, student):
        """Of 2, 4 and 9 the mean is 5, and the variance 26 / 3."""
        added = [("add", 2), ("add", 4), ("add", 9)]
        with shown("What does each number add?"):
            close(student.Running.use([*added, ("mean",)]), 5)
            close(student.Running.use([*added, ("variance",)]), 26 / 3)

    def test_none_yet(self, student):
        """A new object knows of no number."""
        with shown("What is there to divide by?", "exception"):
            equal(student.Running.use([("mean",)]), None)

    def test_new_object(self, student):
        """A second object knows nothing of the first one's numbers."""
        with shown("Which numbers does a new object have?"):
            close(student.Running.use([("add", 8), ("__init__",), ("add", 2), ("mean",)]), 2)

    def test_large_numbers(self, student):
        """A million and two, and a million."""
        with shown("Are the squares larger than what a float can tell apart?"):
            close(student.Running.use([("add", 1e8 + 2), ("add", 1e8), ("variance",)]), 1)
