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

    def test_one_head(self, student):
        """The same matrices as those of a single head: still one matrix per head, (1, 3, 3)."""
        with shown("What does a layer with one head give?", W_V=TO_QUERIES, W_O=OUT, num_heads=1):
            wanted = [[[2.0, 5.0, 4.0], [3.0, 1.0, 3.0], [8.0, 7.0, 1.0]]]
            close(expect.array(student.ov_circuit(TO_QUERIES, OUT, 1)), wanted)

    def test_many_heads(self, student):
        """Twelve heads of width one: head 11 has the column (11, 1) of W_V and the row (1, 11) of W_O."""
        ones, heads = np.ones(12), np.arange(12.0)
        W_V, W_O = np.stack([heads, ones]), np.stack([ones, heads], axis=-1)
        with shown(
            "Few heads come out right? Then which of your numbers is a size?",
            "exception",
            W_V=W_V,
            W_O=W_O,
            num_heads=12,
        ):
            close(expect.array(student.ov_circuit(W_V, W_O, 12)), [[[n, n * n], [1, n]] for n in range(12)])

    def test_many_digits(self, student):
        """The example by hand, with both matrices times ten and divided by seven."""
        W_V, W_O = np.array([[10.0, 20.0], [30.0, 0.0]]) / 7, np.array([[20.0, 10.0], [0.0, -10.0]]) / 7
        wanted = np.array([[[2.0, 1.0], [6.0, 3.0]], [[0.0, -2.0], [0.0, 0.0]]]) * 100 / 49
        with shown("How many digits does each of your steps keep?", W_V=W_V, W_O=W_O, num_heads=2):
            close(expect.array(student.ov_circuit(W_V, W_O, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.ov_circuit, TO_QUERIES, OUT, 2, names="W_V W_O num_heads")
