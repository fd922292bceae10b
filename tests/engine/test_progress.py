"""`progress()` and `autograder progress`: all assignments on one page, by what real checks in a notebook have found."""

from __future__ import annotations

import json
import math

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
    """A function that runs cells and checks in a student's folder of the first assignment; what it shows, as text."""
    folder = tmp_path / A1.name
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)

    def run(cells, *ends):
        names = {"math": math, "np": np, "check": check, "progress": progress}
        for source in (*cells, *ends):
            exec(source, names)
        return capsys.readouterr().out

    return run


def kept(tmp_path):
    return json.loads((tmp_path / FILE).read_text())


def test_what_checks_have_found_is_on_the_page_and_a_fixed_mistake_stays_there(work, tmp_path):
    right = model_answers(A1)
    work([right["softmax"], UNSCALED["attention_scores"]], 'check("softmax")', 'check("attention_scores")')
    assert kept(tmp_path) == {"softmax": {"passed": True}, "attention_scores": {"mistakes": ["no-scaling"]}}
    said = repr(page(tmp_path))
    assert said.startswith("1 of ")
    assert "[#+--]" in said
    assert "begun: attention_scores" in said
    assert "met in attention_scores: no scaling\n" in said
    assert 'Go on with attention_scores. `hint("attention_scores")`' in said
    shown = work([right["attention_scores"]], 'check("attention_scores")', "progress()")
    assert "met in attention_scores: no scaling (fixed)" in shown
    assert "[##--]" in shown
    for name in COURSE.assignments():
        assert name.partition("_")[0] + "  " in shown


def test_an_assignment_is_done_when_all_its_checks_pass(work, tmp_path):
    (tmp_path / FILE).write_text(json.dumps({one.name: {"passed": True} for one in A1.exercises[:-1]}))
    last = A1.exercises[-1].name
    cells = ["import math, torch", model_answers(A1)[last]]
    assert "1 of 9 assignments are done" not in repr(page(tmp_path))
    assert "and 1 of 9 assignments are done" in work(cells, f'check("{last}")', "progress()")


def test_the_command_says_the_same_and_runs_nothing(work, tmp_path):
    work([model_answers(A1)["softmax"]], 'check("softmax")')
    for folder in (tmp_path, tmp_path / A1.name):
        done = CliRunner().invoke(app, ["progress", str(folder)])
        assert done.exit_code == 0
        assert done.output.strip() == repr(page(tmp_path))


def test_nothing_is_kept_where_nothing_is_written_or_others_run_the_notebook(work, tmp_path, monkeypatch):
    work([], 'check("softmax")')
    assert not (tmp_path / FILE).exists()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    work([model_answers(A1)["softmax"]], 'check("softmax")')
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("broken", ["", '{"softmax": 3}'])
def test_a_broken_file_is_no_trouble_and_is_written_anew(work, tmp_path, broken):
    (tmp_path / FILE).write_text(broken)
    assert repr(page(tmp_path)).startswith("0 of ")
    assert "passed" in work([model_answers(A1)["softmax"]], 'check("softmax")')
    assert kept(tmp_path) == {"softmax": {"passed": True}}


def test_names_in_the_file_are_text_on_the_page(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"softmax": {"mistakes": ["<script>-\x1b[2J"]}}))
    assert "<script>" not in page(tmp_path)._repr_html_()
    assert "\x1b" not in repr(page(tmp_path))
