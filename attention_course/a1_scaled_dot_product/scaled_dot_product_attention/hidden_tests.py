"""Hidden tests of scaled_dot_product_attention."""

import pytest

from ..shared_hidden_tests import AttentionTests


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention(AttentionTests):
    NAME = "scaled_dot_product_attention"
