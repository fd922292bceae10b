"""Visible tests of mean_ablate, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Three texts, two heads, four places, one number.
FOUND = np.array(
    [
        [[1.0, 2.0, 3.0, 4.0], [6.0, 0.0, 3.0, 1.0]],
        [[5.0, 6.0, 7.0, 8.0], [0.0, 3.0, 0.0, 2.0]],
        [[9.0, 1.0, 2.0, 3.0], [3.0, 9.0, 6.0, 9.0]],
    ]
)[..., np.newaxis]


@pytest.mark.exercise("mean_ablate")
class TestMeanAblate:
    def test_by_hand(self, student):
        """Three texts, two heads, four places: head 1 says 3, 4, 3, 4 in all the texts, head 0 what it said."""
        wanted = FOUND.copy()
        wanted[:, 1, :, 0] = [3.0, 4.0, 3.0, 4.0]
        question = (
            "At place 0 head 1 found 6 in the first text, 0 in the second and 3 in the third. What is their mean?"
        )
        with shown(question, found=FOUND[..., 0], head=1):
            close(expect.array(student.mean_ablate(FOUND, 1)), wanted)

    def test_the_other_head(self, student):
        """Head 0 instead: it says 5, 3, 4, 5."""
        wanted = FOUND.copy()
        wanted[:, 0, :, 0] = [5.0, 3.0, 4.0, 5.0]
        with shown("Which axis are the heads, and which of them stay as they are?", found=FOUND[..., 0], head=0):
            close(expect.array(student.mean_ablate(FOUND, 0)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and what came in is as before."""
        with shown("Is it a copy that you write into, and of which dtype?"):
            keeps(student.mean_ablate, FOUND, 1, names="found head")
