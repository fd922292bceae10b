"""Fixtures for the tests with nbgrader."""

from __future__ import annotations

import functools
import shutil

import pytest

from autograder.course.assignments import Course
from autograder.nbgrader import why
from autograder.nbgrader.preprocessor import Mark
from autograder.worker import pool
from tests.helpers.small_course import small_course


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """A small released course without submissions. A module can override it."""
    return small_course(tmp_path_factory.mktemp("released") / "course")


@pytest.fixture
def course(original, tmp_path):
    """A copy of the original course for one test."""
    return Course(shutil.copytree(original.root, tmp_path / "course"))


@pytest.fixture(scope="package", autouse=True)
def kept_workers():
    """All commands in this process keep a course's worker, as formgrader does. Starting one takes most of a second."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pool, why):
            patch.setattr(module, "open_pool", functools.partial(module.open_pool, idle=Mark.idle))
        yield
