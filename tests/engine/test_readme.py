"""Every command in the README and the contributor's page is run, and does what the line says."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.sample_class import fill, hand_in, mistake, model_answers
from autograder.course import Course
from autograder.diagnosis.catalogue import read_catalogue
from tests.conftest import ROOT
from tests.helpers import pages
from tests.helpers.accepted import CASES
from tests.helpers.in_process import ASSIGNMENTS

pytestmark = pytest.mark.slow


def commands(name):
    """The command lines of a page, without their comments."""
    text = (ROOT / name).read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    blocks += ["\n".join(re.findall(r"^    (make .*)$", text, re.MULTILINE))]
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


# What the commands do of each assignment they do of all nine, one after another: two show it.
HERE = ("a1_scaled_dot_product", "a3_heads")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository, with two assignments, that uses this interpreter's environment as its `.venv`."""
    folder = tmp_path_factory.mktemp("readme") / "checkout"
    # What is compiled stays: in a sandbox nothing can be written, and each run would compile the kit anew.
    left_out = shutil.ignore_patterns(".venv", ".git", ".*_cache", ".hypothesis", "demo", "gradebook.db", "submitted")
    shutil.copytree(ROOT, folder, ignore=left_out)
    for room in ("source", "solutions", "assignments"):
        for other in {one.name for one in ASSIGNMENTS}.difference(HERE):
            shutil.rmtree(folder / room / other)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def run(command, folder):
    # The environment is made once, by whoever runs the tests; here it is taken as up to date.
    script = f'make() {{ command make -o .venv/installed "$@"; }}\n{command}'
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


MAIN = ["make demo", "make test"]
LOOK = [". .venv/bin/activate", "autograder grade demo/submitted/chloe/a1_scaled_dot_product"]


def test_the_readme_begins_with_a_picture_and_two_commands_and_is_short():
    text = (ROOT / "README.md").read_text()
    assert commands("README.md")[:4] == MAIN + LOOK
    assert text.index("![") < text.index("make demo")
    assert len(text.split()) <= 600
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / picture).is_file()
    for page in re.findall(r"\]\(([A-Z]+\.md)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / page).is_file()


def test_make_demo_grades_a_class_and_says_where_to_look(checkout):
    out = run("make demo", checkout)
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert len(re.findall(r"\b(\d+)/\1\b", lines["ada"])) == len(HERE)
    assert len(re.findall(r" 0/\d", lines["eve"])) == len(HERE)
    assert len(re.findall(r"\b(\d+)/\1\b", lines["farid"])) == len(HERE) - 1
    for student in ("ben", "chloe", "dmitri", "grete"):
        assert "20/20" not in lines[student]
        assert " 0/20" not in lines[student]
    page = re.search(r"What a student reads: +(\S+)", out)[1]
    assert "autograder-rubric" in (checkout / page).read_text()
    said = " ".join(run("\n".join(LOOK), checkout).split())
    quoted = re.search(r"^    attention_scores: .*\n(?:    .*\n)+", (ROOT / "README.md").read_text(), re.MULTILINE)[0]
    assert " ".join(quoted.split()) in said
    assert "scaled_dot_product_attention: 5 of 5 points" in said
    assert "judged with the right one in its place" in said


def test_make_docs_builds_the_pages(checkout, tmp_path):
    """Of a course with one assignment: to ask all known mistakes takes a minute."""
    course = shutil.copytree(checkout, tmp_path / "course", symlinks=True, ignore=shutil.ignore_patterns("demo"))
    shutil.rmtree(course / "source" / "a1_scaled_dot_product")
    run("make docs", course)
    assert "heads-interleaved" in (course / "site" / "search" / "search_index.json").read_text()


def test_ci_and_the_readme_run_the_same_tests():
    assert "make test" in (ROOT / ".ci" / "run").read_text()


# They stand in the instructor's guide, too, and tests/engine/test_guide.py runs them there.
IN_THE_GUIDE = ["autograder dev check a1_scaled_dot_product", "autograder regrade a1_scaled_dot_product"]


def test_the_instructors_commands_in_order(checkout):
    """As they stand in the README, on a course with one submission."""
    mine = [line for line in commands("README.md") if line not in MAIN + LOOK]
    assert set(IN_THE_GUIDE) <= set(mine) & set(pages.commands("instructor"))
    assert mine[0] == "make sync"
    assert "in step with source/" in run(mine[0], checkout)
    assignment = Course(checkout).assignment("a1_scaled_dot_product")
    wrong = model_answers(assignment) | mistake(assignment, "no-scaling", "attention_scores")
    released = checkout / "assignments" / assignment.name / assignment.notebook.name
    hand_in(fill(released, wrong), checkout / "submitted", "zoë", assignment)
    for line in mine[1:]:
        if line not in IN_THE_GUIDE:
            run(line, checkout)
    assert (checkout / "feedback" / "zoë" / assignment.name / "scaled_dot_product.html").is_file()
    (row,) = csv.DictReader((checkout / "grades.csv").read_text().splitlines())
    (report,) = json.loads((checkout / "marks.json").read_text())
    assert (row["student_id"], float(row["score"])) == (report["student"], report["score"])
    assert 15 < report["score"] < 20
    assert "zoë" in (checkout / "class.html").read_text()


def test_every_make_target_that_a_page_names_exists():
    makefile = (ROOT / "Makefile").read_text()
    named = set()
    for page in ("README.md", "CONTRIBUTING.md"):
        named |= set(re.findall(r"`?make ([a-z]+)", (ROOT / page).read_text()))
    assert named >= {"demo", "test", "lab", "install", "quick", "sync"}
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_no_bubblewrap_is_said_in_one_sentence_with_the_remedy(tmp_path):
    """The script that `make install` calls, on a machine that has neither bubblewrap nor apt."""
    empty = tmp_path / "bin"
    empty.mkdir()
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "bubblewrap")],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(empty)},
    )
    assert "sudo apt-get install bubblewrap" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_old_python_is_said_in_one_sentence(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "attention_course").mkdir()
    for name in ("pyproject.toml", "constraints.txt", "attention_course/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    done = subprocess.run(
        ["make", f"PYTHON={fake}", ".venv/installed"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed" in done.stdout


def test_nothing_untracked_is_left_by_demo_and_tests():
    """What is written while working is in .gitignore."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    for name in (
        "demo/gradebook.db",
        "submitted/a/b.ipynb",
        "autograded/x",
        "feedback/x",
        "gradebook.db",
        ".venv/x",
        "grades.csv",
        "marks.json",
        "site/index.html",
        ".coverage",
        "htmlcov/index.html",
    ):
        done = subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False)
        assert done.returncode == 0, name


def test_pages_name_no_file_that_is_not_there():
    for page in ("README.md", "CONTRIBUTING.md"):
        for name in re.findall(
            r"`((?:autograder|source|solutions|assignments|tests)/[\w/.]*)`", (ROOT / page).read_text()
        ):
            assert (ROOT / name).exists(), f"{page}: {name}"
    assert Path(ROOT / "LICENSE").read_text().startswith("BSD 3-Clause")


def test_the_number_of_known_mistakes_is_todays():
    text = " ".join((ROOT / "README.md").read_text().split())
    said = re.search(r"(\d+) known wrong implementations.*full marks to (\d+) right ones", text)
    assert int(said[1]) == sum(len(list(read_catalogue(a.mistakes))) for a in ASSIGNMENTS)
    assert int(said[2]) == len(CASES)
