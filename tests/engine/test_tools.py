"""What maintainers run by hand."""

from __future__ import annotations

import json

import pytest

from tools import compare_reports


def report(student, score=1.0, **more):
    test = {"name": "test_a", "message": "x", "score": score, "max_score": 1.0, "passed": score == 1}
    exercise = {"name": "softmax", "score": score, "diagnosis": None, "tests": [test]}
    return {"student": student, "assignment": "a1", "exercises": [exercise], **more}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([report("ada"), report("ben")], "no difference"),
        ([report("ada"), report("ben", 0.5)], "ben, a1: softmax: score 1.0, then 0.5"),
        ([report("ada")], "ben, a1: only before"),
        ([report("ada"), report("ben", reason="empty")], "ben, a1: graded, then empty"),
    ],
)
def test_two_versions_reports_are_compared(tmp_path, capsys, after, said):
    files = []
    for name, reports in (("before", [report("ada"), report("ben")]), ("after", after)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(reports))
    assert compare_reports.main(*map(str, files)) == (said != "no difference")
    assert capsys.readouterr().out == f"{said}\n"
