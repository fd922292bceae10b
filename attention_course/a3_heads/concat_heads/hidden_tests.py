"""Hidden tests of concat_heads."""

from __future__ import annotations

import pytest

from ...hidden.weights import worth
from ..shared_hidden_tests import ConcatTests, RefinementTests


@pytest.mark.exercise("concat_heads")
class TestConcatHeads(RefinementTests, ConcatTests):
    NAME = "concat_heads"

    test_tokens_stay_whole = worth(0.15, ConcatTests.test_tokens_stay_whole)
    test_smallest = worth(0.15, ConcatTests.test_smallest)
    test_dtype = worth(0.25, RefinementTests.test_dtype)
    test_inputs_left_alone = worth(0.3, RefinementTests.test_inputs_left_alone)
    test_layout_in_memory = worth(0.2, RefinementTests.test_layout_in_memory)
    test_by_name = worth(0.15, RefinementTests.test_by_name)
