"""Fixtures for the tests with nbgrader."""

from __future__ import annotations

import shutil

import pytest

from autograder.course.assignments import Course
from tests.helpers.small_course import small_course


@pytest.fixture(scope="session")
def released_course(tmp_path_factory):
    """A small released course without submissions."""
    return small_course(tmp_path_factory.mktemp("released_course") / "course")


@pytest.fixture
def course(released_course, tmp_path):
    """A copy of the released course for one test."""
    return Course(shutil.copytree(released_course.root, tmp_path / "course"))
