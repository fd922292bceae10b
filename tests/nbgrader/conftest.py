"""Shared by the tests of nbgrader."""

from __future__ import annotations

import shutil

import pytest

from autograder.course.assignments import Course
from tests.helpers.small_course import small_course


@pytest.fixture(scope="session")
def begun(tmp_path_factory):
    """A small course, released, that nobody has handed anything in to."""
    return small_course(tmp_path_factory.mktemp("begun") / "course")


@pytest.fixture
def course(begun, tmp_path):
    """The same, of this test's own."""
    return Course(shutil.copytree(begun.root, tmp_path / "course"))
