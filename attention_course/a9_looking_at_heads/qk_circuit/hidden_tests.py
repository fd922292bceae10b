"""Hidden tests of qk_circuit."""

from __future__ import annotations

import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ..shared_hidden_tests import Circuits


@pytest.mark.exercise("qk_circuit")
class TestQkCircuit(Circuits):
    NAME, NAMES = "qk_circuit", ("W_Q", "W_K")

    def matrices(self, seed, h=3, d=4, d_model=5):
        """W_Q and W_K, (d_model, h * d) each."""
        return normal(seed, d_model, h * d), normal(seed + 1, d_model, h * d)

    def head(self, matrices, head, d):
        """The head's columns of both."""
        return matrices[0][:, head * d : (head + 1) * d], matrices[1][:, head * d : (head + 1) * d]

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads of width four, d_model five: one array of shape (3, 5, 5)."""
        expect.array(student.qk_circuit(*self.matrices(960), self.HEADS))
        self.circuits(student, self.matrices(960), self.HEADS)

    @pytest.mark.weight(1.45)
    def test_values(self, student, reference):
        """Between two words, x_i M x_j is the dot product of that head's query of x_i and key of x_j."""
        hint = "A query is x_i times what, and a key x_j times what? Write down q . k, and read off what is in between."
        self.compare(student, reference, hint)

    @pytest.mark.weight(0.3)
    def test_own_columns(self, student):
        """A head's circuit hangs on that head's columns alone."""
        self.own_numbers(student)

    @pytest.mark.weight(0.3)
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
