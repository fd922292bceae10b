"""Visible tests of causal_mask, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown

from ..shared_visible_tests import CAUSAL, NAMES


@pytest.mark.exercise("causal_mask")
class TestCausalMask:
    def test_three_words(self, student):
        """For three words: one True in the first row, two in the second, three in the third."""
        with shown("Row i says at whom word i may look: at itself and at what came before. Is it so?", length=3):
            close(expect.array(student.causal_mask(3)), CAUSAL)

    def test_truth_values(self, student):
        """The mask holds truth values: its dtype is bool."""
        with shown("What kind of value does a comparison give?", length=3):
            expect.dtype(expect.array(student.causal_mask(3)), np.bool_)

    def test_many_words(self, student):
        """For 600 words: row i has i + 1 True, and column j has 600 - j."""
        with shown(
            expect.IfOthersPass("Right for three words. Which of your numbers is a size, and how far can each count?"),
            length=600,
        ):
            mask = expect.array(student.causal_mask(600))
            expect.shape(mask, (600, 600))
            close(mask.sum(axis=1), np.arange(1, 601), "how many True each row has")
            close(mask.sum(axis=0), np.arange(600, 0, -1), "how many True each column has")

    def test_by_name(self, student):
        """The length may come by name."""
        with shown(NAMES, "exception", length=3):
            expect.array(student.causal_mask(length=3))
