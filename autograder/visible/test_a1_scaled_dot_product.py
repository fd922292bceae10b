"""Visible checks of a1. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.marking import expect


@pytest.mark.exercise("softmax")
class TestSoftmax:
    def test_two_scores(self, student):
        """Scores 1 and 3 give weights of about 0.12 and 0.88."""
        got = expect.array(student.softmax(np.array([1.0, 3.0])))
        expect.close(got, np.array([0.1192, 0.8808]), "Divide each exponential by the sum of them all.", atol=1e-3)
