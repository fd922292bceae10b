"""Visible tests of fine_tune, for students to read."""

import pytest

from autograder.testing import close, shown


@pytest.mark.exercise("fine_tune")
class TestFineTune:
    def test_by_hand(self, student):
        """Two rows of one number, and a base of 0."""
        import torch

        one = torch.ones(1, 1)
        weights = {"base.weight": 0 * one, "base.bias": torch.zeros(1), "A": one, "B": 2 * one}
        X, y = torch.tensor([[1.0], [2.0]]), torch.tensor([[6.0], [3.0]])
        with shown("The errors are 2 - 6 and 4 - 3. What is the slope of their mean square by A, and by B?", X=X, y=y):
            A, B = student.fine_tune(weights, X, y, 1, 0.1)
            close(A, [[1.4]])
            close(B, [[2.2]])
        with shown("What does the second step begin with?", X=X, y=y):
            A, B = student.fine_tune(weights, X, y, 2, 0.01)
            close(A, [[1.0702]])
