"""Visible tests of qk_circuit, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import TO_QUERIES

TO_KEYS = np.array([[1.0, 2.0, 0.0, 1.0], [3.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 0.0]])


@pytest.mark.exercise("qk_circuit")
class TestQkCircuit:
    def test_by_hand(self, student):
        """d_model 2, two heads of width one."""
        W_Q, W_K = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [0.0, -1.0]])
        wanted = [[[2.0, 0.0], [6.0, 0.0]], [[2.0, -2.0], [0.0, 0.0]]]
        with shown("Head 0 has the first column of each. Its product is 2 by 2: why?", W_Q=W_Q, W_K=W_K, num_heads=2):
            close(expect.array(student.qk_circuit(W_Q, W_K, 2)), wanted)

    def test_width_two(self, student):
        """d_model 3, two heads of width two."""
        wanted = [
            [[1.0, 3.0, 0.0], [2.0, 0.0, 1.0], [4.0, 6.0, 1.0]],
            [[1.0, 3.0, 4.0], [0.0, 1.0, 2.0], [3.0, 3.0, 0.0]],
        ]
        question = "Which two columns has head 0? How wide is what comes out?"
        with shown(question, W_Q=TO_QUERIES, W_K=TO_KEYS, num_heads=2):
            close(expect.array(student.qk_circuit(TO_QUERIES, TO_KEYS, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.qk_circuit, TO_QUERIES, TO_KEYS, 2, names="W_Q W_K num_heads")
