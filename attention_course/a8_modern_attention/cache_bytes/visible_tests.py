"""Visible tests of cache_bytes, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import equal, shown


@pytest.mark.exercise("cache_bytes")
class TestCacheBytes:
    def judge(self, student, wanted, question, **given):
        with shown(question, **given):
            got = student.cache_bytes(*given.values())
            equal(int(got) if isinstance(got, np.integer) else got, wanted, "the count")

    def test_by_hand(self, student):
        """The example by hand: 2 layers, 3 heads, a width of 4, 5 words: 480 bytes."""
        question = "How many keys are there, how many numbers is each, and what else is kept?"
        self.judge(student, 480, question, num_layers=2, num_kv_heads=3, d_head=4, length=5)

    def test_float32(self, student):
        """The same with 4 bytes a number: 960 bytes."""
        question = "Where does bytes_per_number come in?"
        self.judge(student, 960, question, num_layers=2, num_kv_heads=3, d_head=4, length=5, bytes_per_number=4)
