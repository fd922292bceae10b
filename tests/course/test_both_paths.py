"""`autograder grade` and `nbgrader autograde` judge the same cells of a notebook, or refuse it with the same words."""

from __future__ import annotations

import pytest

from tools import mutated


@pytest.mark.slow
def test_notebooks_changed_in_their_structure_are_read_alike(tmp_path):
    said, found = mutated.disagreements(tmp_path, 60, seed=2026)
    assert said == []
    assert min(found["read"], found["refused"]) > 5
