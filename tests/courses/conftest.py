"""Fixtures for the tests of other courses."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def everywhere(kept_workers):
    """All tests here keep workers."""
