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
        question = "Which two columns has head 0, and is the product divided by anything?"
        with shown(question, W_Q=TO_QUERIES, W_K=TO_KEYS, num_heads=2):
            close(expect.array(student.qk_circuit(TO_QUERIES, TO_KEYS, 2)), wanted)

    def test_one_head(self, student):
        """The same matrices as those of a single head: still one matrix per head, (1, 3, 3)."""
        with shown("What does a layer with one head give?", W_Q=TO_QUERIES, W_K=TO_KEYS, num_heads=1):
            wanted = [[[2.0, 6.0, 4.0], [2.0, 1.0, 3.0], [7.0, 9.0, 1.0]]]
            close(expect.array(student.qk_circuit(TO_QUERIES, TO_KEYS, 1)), wanted)

    def test_many_heads(self, student):
        """Twelve heads of width one: head 11 has the column (11, 1) of W_Q and (1, 11) of W_K."""
        ones, heads = np.ones(12), np.arange(12.0)
        W_Q, W_K = np.stack([heads, ones]), np.stack([ones, heads])
        with shown(
            "Few heads come out right? Then which of your numbers is a size?",
            "exception",
            W_Q=W_Q,
            W_K=W_K,
            num_heads=12,
        ):
            close(expect.array(student.qk_circuit(W_Q, W_K, 12)), [[[n, n * n], [1, n]] for n in range(12)])

    def test_many_digits(self, student):
        """The example by hand, with both matrices times ten and divided by seven."""
        W_Q, W_K = np.array([[10.0, 20.0], [30.0, 0.0]]) / 7, np.array([[20.0, 10.0], [0.0, -10.0]]) / 7
        wanted = np.array([[[2.0, 0.0], [6.0, 0.0]], [[2.0, -2.0], [0.0, 0.0]]]) * 100 / 49
        with shown("How many digits does each of your steps keep?", W_Q=W_Q, W_K=W_K, num_heads=2):
            close(expect.array(student.qk_circuit(W_Q, W_K, 2)), wanted)

    def test_float32(self, student):
        """float32 gives float32, and the matrices are as before."""
        with shown("Which dtype has an array that you make yourself?"):
            keeps(student.qk_circuit, TO_QUERIES, TO_KEYS, 2, names="W_Q W_K num_heads")
