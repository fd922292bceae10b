"""Visible tests of sliding_window_mask, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown


@pytest.mark.exercise("sliding_window_mask")
class TestSlidingWindowMask:
    def judge(self, student, question, rows, *args):
        names = dict(zip(("length", "window", "sinks"), args, strict=False))
        wanted = np.array([[letter == "x" for letter in row] for row in rows.split()])
        with shown(question, **names):
            got = expect.array(student.sliding_window_mask(*args))
            close(got, wanted, "the mask")
            expect.dtype(got, np.bool_)

    def test_by_hand(self, student):
        """The example by hand: six words, a window of 3, one sink."""
        rows = "x..... xx.... xxx... xxxx.. x.xxx. x..xxx"
        question = "Take the row that differs: whom does its word see, and why does it see each of them?"
        self.judge(student, question, rows, 6, 3, 1)

    def test_no_sinks(self, student):
        """Five words, a window of 2, no sinks."""
        rows = "x.... xx... .xx.. ..xx. ...xx"
        self.judge(student, "Which words are the last two, counted from the word itself?", rows, 5, 2)

    def test_three_sinks(self, student):
        """Seven words, a window of 2, three sinks."""
        rows = "x...... xx..... xxx.... xxxx... xxxxx.. xxx.xx. xxx..xx"
        self.judge(student, "Which columns are the sinks, and who may see them?", rows, 7, 2, 3)

    def test_room_for_more(self, student):
        """Three words, a window of 5: all that came before."""
        self.judge(student, "What if the window has room for more words than there are?", "x.. xx. xxx", 3, 5)

    def test_long_text(self, student):
        """Three hundred words, a window of 2, one sink: word 299 sees the words 0, 298 and 299."""
        question = "Short texts come out right? Then which of your numbers is a size?"
        with shown(question, "exception", length=300, window=2, sinks=1):
            got = expect.array(student.sliding_window_mask(300, 2, 1))
            close(got.sum(axis=1), [1, 2, *[3] * 298], "how many words each word sees")
            close(got[299, [0, 298, 299]], [1, 1, 1], "whether word 299 sees the words 0, 298 and 299")
