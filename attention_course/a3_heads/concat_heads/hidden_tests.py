"""Hidden tests of concat_heads."""

from __future__ import annotations

import pytest

from ...hidden.weights import with_weight
from ..shared_hidden_tests import ConcatTests, RefinementTests


@pytest.mark.exercise("concat_heads")
class TestConcatHeads(RefinementTests, ConcatTests):
    NAME = "concat_heads"

    test_tokens_stay_whole = with_weight(0.15, ConcatTests.test_tokens_stay_whole)
    test_smallest = with_weight(0.15, ConcatTests.test_smallest)
    test_dtype = with_weight(0.25, RefinementTests.test_dtype)
    test_inputs_left_alone = with_weight(0.3, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = with_weight(0.2, RefinementTests.test_layout_in_memory)
    test_by_name = with_weight(0.15, RefinementTests.test_by_name)
