"""Other weights for tests that exercises share: an exercise may have more or fewer tests beside them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest


def with_weight(points: float, test: Callable[..., None]) -> Any:
    """A copy of the test with another weight."""
    copy = types.FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    copy.__doc__ = test.__doc__
    return pytest.mark.weight(points)(copy)
