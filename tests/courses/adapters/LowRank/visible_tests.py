"""Visible tests of LowRank, for students to read."""

import pytest

from autograder.testing import arrives, close, shown


@pytest.mark.exercise("LowRank")
class TestLowRank:
    def test_by_hand(self, student):
        """A base that doubles, and an update of the first number."""
        import torch

        weights = {"base.weight": 2 * torch.eye(2), "base.bias": torch.zeros(2)}
        weights |= {"A": torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "B": torch.eye(2)}
        x = torch.tensor([[3.0, 5.0]])
        with shown("r is 2, and A keeps the first number. What is added to the base's 6 and 10?", x=x):
            close(student.LowRank.run((2, 2, 2), weights, x).value, [[7.5, 10.0]])
            close(student.LowRank.run((2, 2, 2), weights, x, options={"scale": 4.0}).value, [[12.0, 10.0]])

    def test_trains_the_update(self, student):
        """Gradients reach x, A and B, and not the base."""
        import torch

        weights = {"base.weight": torch.eye(2), "base.bias": torch.ones(2)}
        weights |= {"A": torch.ones(1, 2), "B": torch.ones(2, 1)}
        x = torch.tensor([[1.0, 2.0]])
        with shown("Which weights should training change?", x=x):
            found = student.LowRank.run((2, 2, 1), weights, x, seeds=[torch.ones(1, 2)])
            arrives([*found.inputs, found.parameters["A"], found.parameters["B"]], "x A B")
            close(found.parameters["base.weight"] is None, True)
