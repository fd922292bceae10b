"""Visible tests of causal_mask, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown

from ..shared_visible_tests import CAUSAL


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
