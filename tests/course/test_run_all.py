"""How long *Run All* takes, solved and released, against what the page of notebooks says."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.kernel import run_all

# Seconds that a notebook may take: those that train more than a moment have more.
MOST = {"a5": 150, "a6": 90, "a8": 150}
PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")


@pytest.mark.catalogue
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_run_all_takes_what_the_page_says(assignment, tmp_path):
    short = assignment.name[:2]
    said = int(re.search(rf"^\| {short} .* (\d+) \|$", PAGE, re.MULTILINE)[1])
    assert said <= MOST.get(short, 30)
    solved, _ = run_all(assignment.notebook, tmp_path)
    assert solved <= 1.5 * said + 5  # another processor is another one
    released, _ = run_all(
        COURSE.root / "assignments" / assignment.name / assignment.notebook.name, tmp_path, allow_errors=True
    )
    assert released <= 1.5 * said + 5
