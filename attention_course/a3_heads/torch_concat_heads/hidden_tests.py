"""Hidden tests of torch_concat_heads."""

from __future__ import annotations

import pytest

from ...hidden.weights import with_weight
from ..shared_hidden_tests import ConcatTests, RefinementTests, TorchTests


@pytest.mark.exercise("torch_concat_heads")
class TestTorchConcatHeads(TorchTests, ConcatTests):
    NAME = "torch_concat_heads"

    test_shape = with_weight(0.2, ConcatTests.test_shape)
    test_values = with_weight(0.6, ConcatTests.test_values)
    test_real_sizes = with_weight(0.3, ConcatTests.test_real_sizes)
    test_values_in_a_batch = with_weight(0.4, ConcatTests.test_values_in_a_batch)
    test_undoes_split = with_weight(0.3, ConcatTests.test_undoes_split)
    test_batch_axes = with_weight(0.1, ConcatTests.test_batch_axes)
    test_tokens_stay_whole = with_weight(0.15, ConcatTests.test_tokens_stay_whole)
    test_smallest = with_weight(0.1, ConcatTests.test_smallest)
    test_dtype = with_weight(0.2, RefinementTests.test_dtype)
    test_inputs_left_alone = with_weight(0.15, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = with_weight(0.1, RefinementTests.test_layout_in_memory)
    test_by_name = with_weight(0.1, RefinementTests.test_by_name)
    test_gradients = with_weight(0.3, TorchTests.test_gradients)
