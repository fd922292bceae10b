"""Hidden tests of concat_heads."""

from __future__ import annotations

import pytest

from ..shared_hidden_tests import ConcatTests, RefinementTests


@pytest.mark.exercise("concat_heads")
class TestConcatHeads(RefinementTests, ConcatTests):
    NAME = "concat_heads"
