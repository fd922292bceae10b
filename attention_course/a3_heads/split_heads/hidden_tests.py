"""Hidden tests of split_heads."""

from __future__ import annotations

import pytest

from ..shared_hidden_tests import RefinementTests, SplitTests


@pytest.mark.exercise("split_heads")
class TestSplitHeads(RefinementTests, SplitTests):
    NAME, ARGUMENTS = "split_heads", ("X", "num_heads")
