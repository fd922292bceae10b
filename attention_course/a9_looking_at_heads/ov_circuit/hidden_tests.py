"""Hidden tests of ov_circuit."""

from __future__ import annotations

import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ..shared_hidden_tests import Circuits


@pytest.mark.exercise("ov_circuit")
class TestOvCircuit(Circuits):
    NAME, NAMES = "ov_circuit", ("W_V", "W_O")

    def matrices(self, seed, h=3, d=4, d_model=5):
        """W_V, (d_model, h * d), and W_O, (h * d, d_model)."""
        return normal(seed, d_model, h * d), normal(seed + 1, h * d, d_model)

    def head(self, matrices, head, d):
        """The head's columns of W_V and rows of W_O."""
        return matrices[0][:, head * d : (head + 1) * d], matrices[1][head * d : (head + 1) * d]

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads of width four, d_model five: one array of shape (3, 5, 5)."""
        expect.array(student.ov_circuit(*self.matrices(960), self.HEADS))
        self.circuits(student, self.matrices(960), self.HEADS)

    @pytest.mark.weight(1.4)
    def test_values(self, student, reference):
        """x_j M is what that head adds to a word that looks at x_j with all its weight."""
        hint = "Follow one word: through which matrix does it go to become a value, and through which rows to get out?"
        self.compare(student, reference, hint)

    @pytest.mark.weight(0.3)
    def test_own_numbers(self, student):
        """A head's circuit hangs on that head's columns of W_V and rows of W_O alone."""
        self.own_numbers(student)

    @pytest.mark.weight(0.35)
    def test_real_sizes(self, student, reference):
        """Eight heads of width 12, d_model 96; 300 heads of width 1, one head, d_model 1, 2, 8 and 33."""
        self.at_sizes(student, reference, self.test_values)

    @pytest.mark.weight(0.15)
    def test_narrow(self, student):
        """A head of width d has a circuit of rank d."""
        self.narrow(student)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.keeps_dtype(student)

    @pytest.mark.weight(0.4)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.keeps_arguments(student)
