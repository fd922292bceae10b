"""A run says for whom it waits, and its bars are not full while it still makes feedback pages."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from autograder.worker import pool
from tests.conftest import ROOT
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
    for words in (("submitted",), ("submitted", "--json", "-")):
        assert re.search(still, said_by(course, "grade", *words))
    assert "still marking" not in said_by(course, "grade", "submitted", "--quiet")
    assert re.search(still, nbgrader(course, "autograde", NAME))


def on_terminal(course, *words):
    """What a command writes to a terminal."""
    leader, follower = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "160", "TERM": "xterm"}
    command = [sys.executable, "-m", "autograder", *words]
    with subprocess.Popen(command, cwd=course.root, stdout=follower, stderr=follower, env=environment):
        os.close(follower)
        said = bytearray()
        try:
            while part := os.read(leader, 2**16):
                said += part
        except OSError:  # all who could write have ended
            pass
    os.close(leader)
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said.decode())


def test_on_a_terminal_bars_show_for_whom_a_run_waits_and_the_pages_that_are_left(course):
    said = on_terminal(course, "grade", "--gradebook", "--force", "--feedback")
    assert re.search(rf"grading +\S+ +1/3 .*marking bob, {NAME} \([34] s\)", said), said
    after = said[said.index("3/3") :]
    assert re.search(r"grading +\S+ +3/3", after)
    pages = re.findall(r"feedback pages +\S+(?: \S+)? +(\d)/3", after)
    assert pages[0] == "0" and pages[-1] == "3" and pages == sorted(pages), "the second bar fills when the first has"
    assert re.search(r"marking bob", after) is None
