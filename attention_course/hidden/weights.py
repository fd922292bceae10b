"""Points of a test that exercises share, where they have more or fewer tests of their own beside it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest


def with_weight(points: float, test: Callable[..., None]) -> Any:
    """The same test for other points."""
    copy = types.FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    copy.__doc__ = test.__doc__
    return pytest.mark.weight(points)(copy)
