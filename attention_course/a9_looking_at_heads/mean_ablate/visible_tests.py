"""Visible tests of mean_ablate, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Three texts, two heads, four places, two numbers.
FOUND = np.array(
    [
        [[[1.0, 0.0], [2.0, 3.0], [3.0, 6.0], [4.0, 1.0]], [[6.0, 2.0], [0.0, 7.0], [3.0, 1.0], [1.0, 4.0]]],
        [[[5.0, 2.0], [6.0, 5.0], [7.0, 1.0], [8.0, 7.0]], [[0.0, 4.0], [3.0, 1.0], [0.0, 3.0], [2.0, 0.0]]],
        [[[9.0, 4.0], [1.0, 1.0], [2.0, 5.0], [3.0, 4.0]], [[3.0, 9.0], [9.0, 1.0], [6.0, 8.0], [9.0, 2.0]]],
    ]
)


@pytest.mark.exercise("mean_ablate")
class TestMeanAblate:
    def test_by_hand(self, student):
        """Three texts, two heads, four places: head 1 says the same in all the texts, head 0 what it said."""
        wanted = FOUND.copy()
        wanted[:, 1] = [[3.0, 5.0], [4.0, 3.0], [3.0, 4.0], [4.0, 2.0]]
        question = (
            "At place 0 head 1 found (6, 2) in the first text, (0, 4) in the second and (3, 9) in the third. "
            "What is their mean, number by number? Which axis is the texts'?"
        )
        with shown(question, found=FOUND, head=1):
            close(expect.array(student.mean_ablate(FOUND, 1)), wanted)
        with shown("What does your code keep from one call to the next?", found=-FOUND, head=1):
            close(expect.array(student.mean_ablate(-FOUND, 1)), -wanted)

    def test_the_other_head(self, student):
        """Head 0 instead: at place 0 it says (5, 2)."""
        wanted = FOUND.copy()
        wanted[:, 0] = [[5.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 4.0]]
        with shown("Which axis are the heads, and which of them stay as they are?", found=FOUND, head=0):
            close(expect.array(student.mean_ablate(FOUND, 0)), wanted)

    def test_many_texts(self, student):
        """Fifty texts, the numbers 0 to 199: head 1 says 100 and 101."""
        found = np.arange(200.0).reshape(50, 2, 2, 1)
        wanted = found.copy()
        wanted[:, 1, :, 0] = [100.0, 101.0]
        with shown("Few texts come out right? Then which of your numbers is a size?", "exception", head=1):
            close(expect.array(student.mean_ablate(found, 1)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what came in is as before."""
        with shown("Is it a copy that you write into, and of which dtype?"):
            keeps(student.mean_ablate, FOUND, 1, names="found head")
