"""Marks to anywhere: each form is read back by a reader of its own and gives the same marks."""

from __future__ import annotations

import csv

import pytest

from autograder.report import Report
from autograder.reports.marks_file import read_marks
from autograder.systems.gradescope_results import gradescope_files
from tests.helpers.small_course import NAME
from tests.helpers.terminal import autograder, autograder_here


@pytest.fixture(scope="module")
def exported(marks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    words = ("--csv", folder / "e.csv", "--gradescope", folder / "gradescope")
    done = autograder("export", marks, *words, cwd=marks.parent)
    assert done.returncode == 0, done.stderr
    return folder, read_marks([marks])


def test_a_spreadsheet_reads_every_exercise(exported):
    folder, reports = exported
    rows = list(csv.DictReader((folder / "e.csv").read_text().splitlines()))
    for report in reports:
        mine = [
            r for r in rows if r["student"].removeprefix("'") == report.student and r["assignment"] == report.assignment
        ]
        if report.reason:
            assert [row["problem"] for row in mine] == [report.reason]
            continue
        assert [(r["exercise"], float(r["score"]), float(r["max_score"])) for r in mine] == [
            (e.name, e.score, e.max_score) for e in report.exercises
        ]
        assert [r["diagnosis"] for r in mine] == [e.diagnosis or "" for e in report.exercises]
        assert [r["started"] == "yes" for r in mine] == [e.started for e in report.exercises]


def test_a_students_name_leads_nowhere_else(tmp_path):
    for name in ("../../outside", "..", "/etc", ""):
        ((path, _),) = gradescope_files([Report(name, "../a1", (), 1, "empty")], tmp_path)
        assert path.resolve().is_relative_to(tmp_path)
        assert len(path.relative_to(tmp_path).parts) == 3


def test_a_call_without_a_form_says_which_there_are(marks):
    for words, form in ((("export", marks), "--gradescope"), (("bundle", NAME), "--classroom50")):
        done = autograder_here(*words, cwd=marks.parent)
        assert done.returncode == 2
        assert form in done.stderr
