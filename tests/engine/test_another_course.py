"""The commands in `docs/your-own-course.md` create a course."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.helpers.terminal import autograder_here


def run(command, cwd):
    """Run a command that imports this kit."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


GUIDE = (ROOT / "docs" / "your-own-course.md").read_text()


@pytest.mark.catalogue
@pytest.mark.slow
def test_guide_commands_create_a_course_that_grades(tmp_path):
    """All commands of the page run in one shell."""
    lines = [line for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL) for line in block.splitlines()]
    assert sum(line.startswith("autograder grade") for line in lines) == 2
    script = f'set -e\nautograder() {{ {sys.executable} -P -m autograder "$@"; }}\n' + "\n".join(lines)
    done = run(["bash", "-c", script], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("in order:") == 3
    assert "source, a1_first: 3 / 3" in done.stdout
    assert "assignments, a1_first: 0 / 3" in done.stdout
    assert "a2_chance: in order: 2 exercises, 6 points by tests" in done.stdout
    course = tmp_path / "statistics"
    done = run([sys.executable, "-P", "-m", "autograder", "dev", "sync"], course)
    assert "up to date with source/" in done.stdout
    code = "from autograder import check, hint\ndef spread(X): return X\ncheck('spread'); hint('spread')"
    done = run([sys.executable, "-P", "-c", code], course / "source" / "a2_chance")
    assert "spread: 0 of 1 visible tests pass" in done.stdout, done.stdout + done.stderr
    assert "spread: hint 1 of 3" in done.stdout
    # Course files inside a submission are ignored.
    handed_in = course / "submitted" / "mallory"
    shutil.copytree(course / "statistics_course", handed_in / "statistics_course")
    checks = handed_in / "statistics_course" / "a2_chance" / "spread" / "visible_tests.py"
    checks.write_text(f"{checks.read_text()}\nraise SystemExit('mine')")
    done = run([sys.executable, "-P", "-c", code], handed_in)
    assert "spread: 0 of 1 visible tests pass" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["full"], "is there already; name an empty or new folder"),
        (["submitted/course"], "is among submissions"),
        (["fresh", "1_first", "mean"], "'1_first' is not a Python name"),
        (["fresh", "a1_first", "lambda"], "'lambda' is not a Python name"),
    ],
)
def test_new_course_refuses_used_folders_and_bad_names(tmp_path, words, message):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    done = autograder_here("dev", "new-course", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "thesis.tex"]
