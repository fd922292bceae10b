"""A run says for whom it waits."""

from __future__ import annotations

import re

import pytest

from autograder.worker import pool
from tests.helpers.small_course import EXERCISE, NAME, nbgrader, said_by, small_course, submit

pytestmark = pytest.mark.slow
SLOW = f"import time\ntime.sleep(4)\ndef {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Three students; one's notebook takes four seconds."""
    course = small_course(tmp_path_factory.mktemp("progress") / "course", students=("ada", "cy"))
    submit(course, "bob", {EXERCISE: SLOW})
    return course


def test_a_log_says_for_whom_a_run_waits(course, monkeypatch):
    monkeypatch.setattr(pool, "LONG", 1.5)
    still = rf"still marking bob, {NAME} \(\d s\)"
    assert re.search(still, said_by(course, "grade", "submitted", "--json", "-"))
    assert re.search(still, nbgrader(course, "autograde", NAME))
