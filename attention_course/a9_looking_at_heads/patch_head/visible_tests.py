"""Visible tests of patch_head, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

# Two heads, three places, four numbers: 1 to 24 in this run, some of 100 to 124, in no order, in the other.
HERE = np.arange(1.0, 25.0).reshape(2, 3, 4)
THERE = 7 * HERE % 25 + 100


@pytest.mark.exercise("patch_head")
class TestPatchHead:
    def test_by_hand(self, student):
        """Head 1 at place 1 found 17, 18, 19, 20 here and 119, 101, 108, 115 there."""
        wanted = HERE.copy()
        wanted[1, 1] = [119.0, 101.0, 108.0, 115.0]
        question = (
            "Of six vectors of four numbers, which one comes from the other run? On which axis does each index stand?"
        )
        with shown(question, found=HERE, other=THERE, head=1, place=1):
            close(expect.array(student.patch_head(HERE, THERE, 1, 1)), wanted)
        with shown("What does your code keep from one call to the next?", found=-HERE, other=-THERE, head=1, place=1):
            close(expect.array(student.patch_head(-HERE, -THERE, 1, 1)), -wanted)

    def test_another_place(self, student):
        """Head 1 at place 0: 13, 14, 15, 16 become 116, 123, 105, 112."""
        wanted = HERE.copy()
        wanted[1, 0] = [116.0, 123.0, 105.0, 112.0]
        question = "Which axis are the heads, and which the places?"
        with shown(question, found=HERE, other=THERE, head=1, place=0):
            close(expect.array(student.patch_head(HERE, THERE, 1, 0)), wanted)

    def test_five_texts(self, student):
        """Five texts at once: in each of them the same head at the same place."""
        times = np.array([1.0, 2.0, -1.0, 3.0, 5.0]).reshape(5, 1, 1, 1)
        wanted = times * HERE
        wanted[:, 1, 0] = times[:, 0, 0] * np.array([116.0, 123.0, 105.0, 112.0])
        question = "With texts in front, heads are no longer the first axis. Which one are they, counted from the end?"
        with shown(question, head=1, place=0):
            close(expect.array(student.patch_head(times * HERE, times * THERE, 1, 0)), wanted)

    def test_two_batch_axes(self, student):
        """The same with two batch axes, (2, 1)."""
        times = np.array([1.0, -3.0]).reshape(2, 1, 1, 1, 1)
        wanted = times * HERE
        wanted[:, 0, 1, 0] = times[:, 0, 0, 0] * np.array([116.0, 123.0, 105.0, 112.0])
        question = "How many axes may stand in front? Which axis are the heads, counted from the end?"
        with shown(question, "exception", head=1, place=0):
            close(expect.array(student.patch_head(times * HERE, times * THERE, 1, 0)), wanted)

    def test_as_many_heads_as_places(self, student):
        """Three heads at three places: head 2 at place 0 found 12 and 13 here, and 32 and 33 there."""
        found = np.arange(18.0).reshape(3, 3, 2)
        wanted = found.copy()
        wanted[2, 0] = [32.0, 33.0]
        with shown("Which axis are the heads, and which the places?", found=found, head=2, place=0):
            close(expect.array(student.patch_head(found, found + 20, 2, 0)), wanted)

    def test_many_heads(self, student):
        """Twelve heads at ninety places: head 11 at place 80 found 1070 here, and -1070 there."""
        found = np.arange(1080.0).reshape(12, 90, 1)
        wanted = found.copy()
        wanted[11, 80] = -1070.0
        with shown("Small sizes come out right? Then which of your numbers is a size?", "exception"):
            close(expect.array(student.patch_head(found, -found, 11, 80)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and both runs are as before."""
        with shown("Is it a copy that you write into, and of which dtype?"):
            keeps(student.patch_head, HERE, THERE, 1, 1, names="found other head place")
