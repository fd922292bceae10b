"""`dev new --like`: each skeleton is an exercise that passes `dev check` before the first edit."""

from __future__ import annotations

import pytest

from autograder.authoring.skeletons import LIKE
from autograder.course.assignments import Course
from tests.helpers.small_course import command


@pytest.mark.catalogue
@pytest.mark.slow
def test_every_skeleton_passes_dev_check_unedited(tmp_path):
    course = Course(tmp_path / "own")
    for words in (
        ["new-course", course.root],
        *(["new", "a2_kinds", f"{like}_like", "--like", like] for like in LIKE),
        ["new-assignment", "a3_small", "median", "--minimal"],
        ["sync"],
    ):
        code, said = command(course if course.root.exists() else Course(tmp_path), "dev", *words)
        assert code == 0, said
    code, said = command(course, "dev", "check", "a2_kinds", "a3_small")
    assert code == 0, said
    assert "a2_kinds: in order: 4 exercises, 12 points by tests and 0 by hand, 12 known mistakes" in said
    assert "a3_small: in order: 1 exercise" in said
    advice = [line for line in said.splitlines() if "a2_kinds" in line and "    " in line]
    assert len(advice) == len(LIKE)  # the text of each skeleton, and nothing else
    assert all("text of the skeleton is still there" in line for line in advice)
    assert "cell '## 1. `function_like`': the text" in said  # by its heading, because JupyterLab shows no cell numbers
