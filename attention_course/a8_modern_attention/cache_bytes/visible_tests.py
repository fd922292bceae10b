"""Visible tests of cache_bytes, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import equal, expect, shown


@pytest.mark.exercise("cache_bytes")
class TestCacheBytes:
    def judge(self, student, wanted, question, **given):
        with shown(question, **given):
            got = student.cache_bytes(*given.values())
            if isinstance(got, np.integer):
                expect.fail(f"returned {expect.kind_of(got)}, not an int of Python.", symptom="kind")
            equal(got, wanted, "the count")

    def test_by_hand(self, student):
        """The example by hand: 3 layers, 5 heads, a width of 10, 7 words: 4,200 bytes."""
        question = "How many keys are there, how many numbers is each, and what else is kept?"
        self.judge(student, 4200, question, num_layers=3, num_kv_heads=5, d_head=10, length=7)

    def test_float32(self, student):
        """The same with 4 bytes a number: 8,400 bytes."""
        question = "Where does bytes_per_number come in?"
        self.judge(student, 8400, question, num_layers=3, num_kv_heads=5, d_head=10, length=7, bytes_per_number=4)

    def test_long_text(self, student):
        """32 layers, 8 heads of width 128, 128,000 words: 16,777,216,000 bytes."""
        question = "Does one of your numbers end at some size?"
        self.judge(student, 16_777_216_000, question, num_layers=32, num_kv_heads=8, d_head=128, length=128_000)
