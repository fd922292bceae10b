"""Hidden tests of torch_split_heads."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.weights import with_weight
from ..shared_hidden_tests import RefinementTests, SplitTests, TorchTests, whole


@pytest.mark.exercise("torch_split_heads")
class TestTorchSplitHeads(TorchTests, SplitTests):
    NAME, ARGUMENTS = "torch_split_heads", ("x", "num_heads")

    # NumPy's exercise judges the split itself. Here gradients, dtype and memory have more weight.
    test_shape = with_weight(0.25, SplitTests.test_shape)
    test_values = with_weight(0.9, SplitTests.test_values)
    test_real_sizes = with_weight(0.4, SplitTests.test_real_sizes)
    test_values_in_a_batch = with_weight(0.5, SplitTests.test_values_in_a_batch)
    test_batch_axes = with_weight(0.1, SplitTests.test_batch_axes)
    test_tokens_stay_whole = with_weight(0.15, SplitTests.test_tokens_stay_whole)
    test_value_error = with_weight(0.4, SplitTests.test_value_error)
    test_smallest = with_weight(0.1, SplitTests.test_smallest)
    test_dtype = with_weight(0.2, RefinementTests.test_dtype)
    test_inputs_left_alone = with_weight(0.2, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = with_weight(0.1, RefinementTests.test_layout_in_memory)
    test_by_name = with_weight(0.1, RefinementTests.test_by_name)
    test_gradients = with_weight(0.4, TorchTests.test_gradients)

    @pytest.mark.weight(0.2)
    def test_batch_in_memory(self, student):
        """A batch may lie in memory token by token."""
        self.looks_like_an_attempt(student)
        view = whole(61, 5, 2, 12).swapaxes(0, 1)  # (B, L, d_model)
        plain = self.answer(student, np.ascontiguousarray(view), 3)
        expect.equal(self.answer(student, view, 3), plain, "Which axes does a .view join? Do they lie side by side?")
