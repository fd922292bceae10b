"""Marks to anywhere: each form is read back by a reader of its own and gives the same marks."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest

from autograder.authoring.sample_class import hand_in, model_answers
from autograder.report import Report
from autograder.reports.marks_file import read_marks
from autograder.systems.gradescope_results import gradescope_files
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled
from tests.helpers.terminal import autograder, autograder_here

A1 = ASSIGNMENTS[0]


def test_a_spreadsheet_reads_every_exercise(marks, tmp_path):
    done = autograder_here("export", marks, "--csv", tmp_path / "e.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "e.csv").read_text().splitlines()))
    for report in read_marks([marks]):
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


@pytest.fixture(scope="module")
def gradescope(tmp_path_factory):
    """/autograder as Gradescope lays it out; this interpreter's environment in place of the one setup.sh makes."""
    root = tmp_path_factory.mktemp("autograder")
    done = autograder("bundle", A1.name, "--gradescope", root / "a1.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(root / "a1.zip") as bundle:
        modes = {info.filename: stat.S_IMODE(info.external_attr >> 16) for info in bundle.infolist()}
        bundle.extractall(root / "source")
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "venv").symlink_to(sys.prefix)
    return root


def run_autograder(root, notebook=None, name=A1.notebook.name):
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    if notebook is not None:
        path = hand_in(notebook, root / "handed in", "x", A1)
        shutil.copy(path, root / "submission" / name)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        ["bash", "run_autograder"], cwd=root, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (root / "results").stat().st_mode & 0o077
    return json.loads((root / "results" / "results.json").read_text())


SPY = """
def softmax(x, axis=-1):
    import pathlib
    raise ValueError("I have read " + str([str(p) for p in pathlib.Path("/").rglob("hidden_tests.py")][:3]) + str(x))
"""


@pytest.mark.slow
def test_without_a_wall_gradescope_grades_nothing_unless_asked_and_then_repeats_no_words(gradescope):
    spying = filled(A1, model_answers(A1) | {"softmax": SPY})
    script = gradescope / "run_autograder"
    kept = script.read_text()
    no_sandbox = re.sub(r'^if ! "\$python" -P -c .*; then$', "if true; then", kept, count=1, flags=re.MULTILINE)
    assert no_sandbox != kept
    try:
        script.write_text(no_sandbox)
        with pytest.raises(AssertionError, match="nothing was graded"):
            run_autograder(gradescope, spying)
        script.write_text(no_sandbox.replace('"needed" = needed', '"wished for" = needed'))
        results = run_autograder(gradescope, spying)
    finally:
        script.write_text(kept)
    assert 0 < results["score"] < 20
    assert {test["output"] for test in results["tests"]} == {""}
    assert "I have read" not in json.dumps(results)
    assert results["visibility"] == "after_due_date"
    nothing = run_autograder(gradescope)
    assert nothing["score"] == 0
    assert f"no {A1.notebook.name}" in nothing["output"]
