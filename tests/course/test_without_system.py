"""The notebooks' NumPy exercises need nothing that Python in a browser lacks; those in PyTorch say where to do them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import nbformat
import pytest

from autograder.authoring.sample_class import mistake, model_answers
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled

pytestmark = pytest.mark.slow
A1, A2, A3 = ASSIGNMENTS[:3]
PASSES = re.compile(r"\w+: (\d+) of \1 visible tests pass")
SENTENCE = "This needs PyTorch, which a browser does not have: choose File, Download, and go on with that file"


def run(assignment, folder, answers):
    """The output of the notebook's cells with these answers, and the cells that raised."""
    path = folder / assignment.notebook.name
    nbformat.write(filled(assignment, answers), path)
    command = [sys.executable, "-m", "tests.helpers.without_system", path.name]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    return " ".join(done.stdout.split()), done.stderr


def test_wrong_answer_is_named_and_the_right_ones_pass(tmp_path):
    wrong = model_answers(A1) | mistake(A1, "no-scaling", "attention_scores")
    shown, raised = run(A1, tmp_path, wrong)
    assert raised == ""
    assert "Known mistake: no scaling." in shown
    assert re.search(r"softmax: (\d+) of \1 visible tests pass", shown)
    assert shown.count(SENTENCE) == 4  # its imports, its definition's check, and two cells that use it
    assert (tmp_path / ".autograder-progress.json").is_file()


@pytest.mark.parametrize(
    ("assignment", "numpy_exercises", "closing"),
    [
        pytest.param(A2, 4, "Darcy", id="a2", marks=pytest.mark.catalogue),
        pytest.param(A3, 3, 'layer 2, head 1 ," 0.22', id="a3"),
    ],
)
def test_closing_cells_run_without_pytorch(tmp_path, assignment, numpy_exercises, closing):
    shown, raised = run(assignment, tmp_path, model_answers(assignment))
    assert raised == ""
    assert len(PASSES.findall(shown)) == numpy_exercises
    assert closing in shown
    assert SENTENCE in shown


@pytest.mark.catalogue
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda one: one.name[:2])
def test_start_page_says_how_many_exercises_work_in_the_browser(tmp_path, assignment):
    words = tomllib.loads((ROOT / "tools" / "site" / "assignments.toml").read_text())
    shown, _ = run(assignment, tmp_path, model_answers(assignment))
    assert len(PASSES.findall(shown)) == words[assignment.name]["in_browser"]
