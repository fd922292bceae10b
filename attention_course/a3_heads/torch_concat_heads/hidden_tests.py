"""Hidden tests of torch_concat_heads."""

from __future__ import annotations

import pytest

from ...hidden.weights import worth
from ..shared_hidden_tests import ConcatTests, RefinementTests, TorchTests


@pytest.mark.exercise("torch_concat_heads")
class TestTorchConcatHeads(TorchTests, ConcatTests):
    NAME = "torch_concat_heads"

    test_shape = worth(0.2, ConcatTests.test_shape)
    test_values = worth(0.6, ConcatTests.test_values)
    test_real_sizes = worth(0.3, ConcatTests.test_real_sizes)
    test_values_in_a_batch = worth(0.4, ConcatTests.test_values_in_a_batch)
    test_undoes_split = worth(0.3, ConcatTests.test_undoes_split)
    test_batch_axes = worth(0.1, ConcatTests.test_batch_axes)
    test_tokens_stay_whole = worth(0.15, ConcatTests.test_tokens_stay_whole)
    test_smallest = worth(0.1, ConcatTests.test_smallest)
    test_dtype = worth(0.2, RefinementTests.test_dtype)
    test_inputs_left_alone = worth(0.15, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = worth(0.1, RefinementTests.test_layout_in_memory)
    test_by_name = worth(0.1, RefinementTests.test_by_name)
    test_gradients = worth(0.3, TorchTests.test_gradients)
