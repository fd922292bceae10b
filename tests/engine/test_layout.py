"""No module of the engine is too long to be read at once; `test_guide.py` looks at the architecture's table."""

from __future__ import annotations

from tests.conftest import ROOT

LONGEST = 400  # lines


def test_every_module_can_be_read_at_once():
    lines = {path: len(path.read_text().splitlines()) for path in (ROOT / "autograder").rglob("*.py")}
    assert len(lines) > 100
    assert {str(path.relative_to(ROOT)): count for path, count in lines.items() if count > LONGEST} == {}
