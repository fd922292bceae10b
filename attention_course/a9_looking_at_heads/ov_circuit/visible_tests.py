"""Visible tests of ov_circuit, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import TO_QUERIES

OUT = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]])


@pytest.mark.exercise("ov_circuit")
class TestOvCircuit:
    def test_by_hand(self, student):
        """d_model 2, two heads of width one."""
        W_V, W_O = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [0.0, -1.0]])
        wanted = [[[2.0, 1.0], [6.0, 3.0]], [[0.0, -2.0], [0.0, 0.0]]]
        question = "Head 0 has the first column of W_V and the first row of W_O. Its product is 2 by 2: why?"
        with shown(question, W_V=W_V, W_O=W_O, num_heads=2):
            close(expect.array(student.ov_circuit(W_V, W_O, 2)), wanted)

    def test_width_two(self, student):
        """d_model 3, two heads of width two."""
        wanted = [
            [[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [5.0, 4.0, 1.0]],
            [[1.0, 3.0, 4.0], [0.0, 1.0, 2.0], [3.0, 3.0, 0.0]],
        ]
        question = "Which two columns of W_V has head 0, and which two rows of W_O?"
        with shown(question, W_V=TO_QUERIES, W_O=OUT, num_heads=2):
            close(expect.array(student.ov_circuit(TO_QUERIES, OUT, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.ov_circuit, TO_QUERIES, OUT, 2, names="W_V W_O num_heads")
