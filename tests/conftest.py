"""Shared by the kit's own tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import Course
from autograder.sandbox.client import Sandbox

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(ROOT)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The real thing; one warm process for the whole run."""
    with Sandbox(kind="bubblewrap") as opened:
        yield opened
