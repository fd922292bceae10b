"""`progress()` and `autograder progress` show the results of all checks on one page."""

from __future__ import annotations

import json
import math
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from autograder import check, progress
from autograder.authoring.sample_class import mistake, model_answers
from autograder.cli.main import app
from autograder.student.progress import FILE, page
from tests.helpers.in_process import COURSE

A1 = COURSE.assignment("a1_scaled_dot_product")
UNSCALED = mistake(A1, "no-scaling", "attention_scores")


@pytest.fixture
def work(tmp_path, monkeypatch, capsys):
    """A function that runs cells in a student's folder of the first assignment and returns the output."""
    folder = tmp_path / A1.name
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)

    def run(cells, *calls):
        names = {"math": math, "np": np, "check": check, "progress": progress}
        for source in (*cells, *calls):
            exec(source, names)
        return capsys.readouterr().out

    return run


def kept(tmp_path):
    return json.loads((tmp_path / FILE).read_text())


def test_page_shows_check_results_and_keeps_fixed_mistakes(work, tmp_path):
    right = model_answers(A1)
    work([right["softmax"], UNSCALED["attention_scores"]], 'check("softmax")', 'check("attention_scores")')
    assert kept(tmp_path) == {"softmax": {"passed": True}, "attention_scores": {"mistakes": ["no-scaling"]}}
    text = repr(page(tmp_path))
    assert text.startswith("1 of ")
    assert "[#+--]" in text
    assert "begun: attention_scores" in text
    assert "met in attention_scores: no scaling\n" in text
    assert 'Go on with attention_scores. `hint("attention_scores")`' in text
    shown = work([right["attention_scores"]], 'check("attention_scores")', "progress()")
    assert "met in attention_scores: no scaling (fixed)" in shown
    assert "[##--]" in shown
    for name in COURSE.assignments:
        assert name.partition("_")[0] + "  " in shown


def test_assignment_is_done_when_all_checks_pass(work, tmp_path):
    (tmp_path / FILE).write_text(json.dumps({one.name: {"passed": True} for one in A1.exercises[:-1]}))
    last = A1.exercises[-1].name
    cells = ["import math, torch", model_answers(A1)[last]]
    assert "1 of 9 assignments are done" not in repr(page(tmp_path))
    assert "and 1 of 9 assignments are done" in work(cells, f'check("{last}")', "progress()")


def test_command_prints_the_same_page_and_runs_nothing(work, tmp_path):
    work([model_answers(A1)["softmax"]], 'check("softmax")')
    for folder in (tmp_path, tmp_path / A1.name):
        done = CliRunner().invoke(app, ["progress", str(folder)])
        assert done.exit_code == 0
        assert done.output.strip() == repr(page(tmp_path))


def test_unstarted_exercises_and_grading_runs_are_not_recorded(work, tmp_path, monkeypatch):
    work([], 'check("softmax")')
    assert not (tmp_path / FILE).exists()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    work([model_answers(A1)["softmax"]], 'check("softmax")')
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("broken", ["", '{"softmax": 3}'])
def test_broken_file_is_replaced(work, tmp_path, broken):
    (tmp_path / FILE).write_text(broken)
    assert repr(page(tmp_path)).startswith("0 of ")
    assert "passed" in work([model_answers(A1)["softmax"]], 'check("softmax")')
    assert kept(tmp_path) == {"softmax": {"passed": True}}


def test_page_says_whether_anything_is_kept(work, tmp_path, monkeypatch):
    file = tmp_path / FILE
    assert repr(page(tmp_path)).endswith(f"Nothing is kept yet. Your checks will be kept in {file}, and nowhere else.")
    work([model_answers(A1)["softmax"]], 'check("softmax")')
    assert repr(page(tmp_path)).endswith(f"Kept in {file}, and nowhere else.")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert f"This user cannot write to {tmp_path}, so checks keep nothing new." in page(tmp_path)._repr_html_()
    file.unlink()
    assert "Nothing is kept. This user cannot" in repr(page(tmp_path))


def test_names_in_the_file_are_escaped(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"softmax": {"mistakes": ["<script>-\x1b[2J"]}}))
    assert "<script>" not in page(tmp_path)._repr_html_()
    assert "\x1b" not in repr(page(tmp_path))
