"""Fixtures for the tests of other courses."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def everywhere(kept_workers, shared_zygote):
    """All tests here keep workers and share zygotes."""
