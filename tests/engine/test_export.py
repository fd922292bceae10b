"""`autograder export`: the written files hold the same marks."""

from __future__ import annotations

import csv

from autograder.report import Report
from autograder.reports.marks_file import read_marks
from autograder.systems.gradescope import gradescope_files
from tests.helpers.terminal import autograder_here


def test_csv_holds_every_exercise(marks, tmp_path):
    done = autograder_here("export", marks, "--csv", tmp_path / "e.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "e.csv").read_text().splitlines()))
    for report in read_marks([marks]):
        key = report.student, report.assignment
        mine = [row for row in rows if (row["student"].removeprefix("'"), row["assignment"]) == key]
        if report.reason:
            assert [row["problem"] for row in mine] == [report.reason]
            continue
        assert [(r["exercise"], float(r["score"]), float(r["max_score"])) for r in mine] == [
            (e.name, e.score, e.max_score) for e in report.exercises
        ]
        assert [r["diagnosis"] for r in mine] == [e.diagnosis or "" for e in report.exercises]
        assert [r["started"] == "yes" for r in mine] == [e.started for e in report.exercises]


def test_student_names_cannot_leave_the_output_folder(tmp_path):
    for name in ("../../outside", "..", "/etc", ""):
        ((path, _),) = gradescope_files([Report(name, "../a1", (), 1, "empty")], tmp_path, "visible", True)
        assert path.resolve().is_relative_to(tmp_path)
        assert len(path.relative_to(tmp_path).parts) == 3
