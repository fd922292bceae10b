"""Fixtures for the tests with nbgrader."""

from __future__ import annotations

import shutil

import pytest

from autograder.course.assignments import Course
from tests.helpers.small_course import small_course


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """A small released course without submissions. A module can override it."""
    return small_course(tmp_path_factory.mktemp("released") / "course")


@pytest.fixture
def course(original, tmp_path):
    """A copy of the original course for one test."""
    return Course(shutil.copytree(original.root, tmp_path / "course"))


@pytest.fixture(scope="module", autouse=True)
def everywhere(kept_workers):
    """All tests here keep workers."""
