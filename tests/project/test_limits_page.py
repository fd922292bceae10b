"""docs/limits.md lists each limit with its default value."""

from __future__ import annotations

import re
from dataclasses import asdict

from autograder.discovery import MAX_NOTEBOOK_BYTES, MAX_NOTEBOOKS
from autograder.explain.explaining import EXERCISE_SECONDS, SUBMISSION_SECONDS
from autograder.submission import MAX_BYTES, MAX_CELLS, MAX_FOLDERS, MAX_PYTHON, MAX_PYTHON_BYTES
from cellcage.limits import MIB, Limits
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+)( MiB)? \| (.+) \|$", re.M)


def test_every_limit_is_on_the_page_with_its_default():
    rows = ROW.findall(PAGE)
    values = {name: float(number) * (MIB if unit else 1) for name, number, unit, *_ in rows}
    assert values == asdict(Limits())
    assert len(rows) == len(values), "a limit appears twice"


def test_fixed_limits_match_the_code():
    assert f"{EXERCISE_SECONDS:g} s of CPU time for an exercise and {SUBMISSION_SECONDS:g} s for a submission" in PAGE
    assert f"{MAX_BYTES // MIB} MiB and {MAX_CELLS:,} cells" in PAGE
    assert f"{MAX_PYTHON} files\nwith {MAX_PYTHON_BYTES // MIB} MiB together, from {MAX_FOLDERS} folders" in PAGE
    assert f"at most {MAX_NOTEBOOKS} notebooks with {MAX_NOTEBOOK_BYTES // MIB} MiB together" in PAGE
