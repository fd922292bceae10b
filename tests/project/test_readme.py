"""The commands in the README work, and it stays short."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess

import pytest

from autograder.authoring.sample_class import hand_in, mistake, model_answers
from autograder.course.assignments import Course
from tests.conftest import ROOT
from tests.helpers import pages, places
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled
from tests.helpers.small_course import nbgrader, said_by

pytestmark = pytest.mark.slow


def commands(name):
    """The command lines of a page, without their comments."""
    text = (ROOT / name).read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    blocks += ["\n".join(re.findall(r"^    (make .*)$", text, re.MULTILINE))]
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


A1 = ASSIGNMENTS[0]  # the commands do the same for all nine assignments


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return places.checkout(tmp_path_factory.mktemp("readme") / "checkout", A1.name)


def run(command, folder):
    return places.typed(command, folder, PYTHONPATH=str(folder), COLUMNS="120")


MAIN = ["make demo", "make test"]
LOOK = [". .venv/bin/activate", "autograder grade demo/submitted/chloe/a1_scaled_dot_product"]


def test_readme_starts_with_picture_and_commands_and_is_short():
    text = (ROOT / "README.md").read_text()
    assert commands("README.md")[:4] == MAIN + LOOK
    assert text.index("![") < text.index("make demo")
    assert len(text.split()) <= 450


def test_make_demo_grades_a_class_and_names_the_feedback_page(checkout):
    out = run("make demo", checkout)
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert " 20/20" in lines["ada"]
    assert " 0/20" in lines["eve"]
    for student in ("ben", "chloe", "dmitri", "farid", "grete"):
        assert "20/20" not in lines[student]
        assert " 0/20" not in lines[student]
    for one in (checkout / "demo" / "feedback" / "dmitri").rglob("*.html"):
        assert "is not defined" not in one.read_text()  # an answer is handed in with all that it calls
    page = re.search(r"What a student reads: +(\S+)", out)[1]
    assert "autograder-rubric" in (checkout / page).read_text()
    shown = " ".join(run("\n".join(LOOK), checkout).split())
    quoted = re.search(r"^    attention_scores: .*\n(?:    .*\n)+", (ROOT / "README.md").read_text(), re.MULTILINE)[0]
    assert " ".join(quoted.split()) in shown
    assert "✗ not yet" in shown
    assert "divided by the square root of d_k" in shown
    assert "scaled_dot_product_attention: 5 of 5 points" in shown
    assert "judged with the right one in its place" in shown


# The instructor's guide has them too; tests/project/test_guide.py runs them.
IN_THE_GUIDE = ["autograder dev check a1_scaled_dot_product", "autograder regrade a1_scaled_dot_product"]


def run_here(line, course):
    """Run a command line in this process, which has imported what the command needs."""
    program, *words = shlex.split(line)
    return {"autograder": said_by, "nbgrader": nbgrader}[program](course, *words)


def test_readme_commands_run_in_order(checkout, kept_workers):
    """On a course with one submission. The first one runs as a program, the others in this process."""
    mine = [line for line in commands("README.md") if line not in MAIN + LOOK]
    assert set(IN_THE_GUIDE) <= set(mine) & set(pages.commands("instructor"))
    assert mine[0] == "autograder dev sync"
    assert "up to date with source/" in run(mine[0], checkout)
    assignment = Course(checkout).assignment("a1_scaled_dot_product")
    wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
    hand_in(filled(assignment, wrong), checkout / "submitted", "zoë", assignment)
    for line in mine[1:]:
        if line not in IN_THE_GUIDE:
            run_here(line, Course(checkout))
    assert (checkout / "feedback" / "zoë" / assignment.name / "scaled_dot_product.html").is_file()
    (row,) = csv.DictReader((checkout / "grades.csv").read_text().splitlines())
    (report,) = json.loads((checkout / "marks.json").read_text())
    assert (row["student_id"], float(row["score"])) == (report["student"], report["score"])
    assert 15 < report["score"] < 20
    assert "zoë" in (checkout / "class.html").read_text()


def test_old_python_is_reported_in_one_sentence(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    for folder in ("attention_course", "cellcage"):
        (tmp_path / folder).mkdir()
    for name in ("pyproject.toml", "constraints.txt", "attention_course/pyproject.toml", "cellcage/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    done = subprocess.run(
        ["make", f"PYTHON={fake}", ".venv/installed"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed" in done.stdout
