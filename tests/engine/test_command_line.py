"""`autograder grade` as a person or a script calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from autograder.authoring.sample_class import hand_in, mistake, model_answers
from autograder.cli.main import app
from autograder.discovery import find_submissions
from autograder.errors import MachineError
from autograder.worker.pool import grade_many
from autograder.worker.worker import Worker
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.releases import filled
from tests.helpers.small_course import NAME, small_course
from tests.helpers.terminal import autograder, autograder_here

# Enough to tell assignments apart.
A1 = ASSIGNMENTS[0]
SOME = [one for one in ASSIGNMENTS if one.name.startswith(("a1", "a3", "a7"))]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """A small class: everything right, one mistake, untouched, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    for assignment in SOME:
        hand_in(filled(assignment, model_answers(assignment)), folder, "right", assignment)
        hand_in(filled(assignment, {}), folder, "untouched", assignment)
    wrong = model_answers(A1) | mistake(A1, "no-scaling", "attention_scores")
    hand_in(filled(A1, wrong), folder, "wrong", A1)
    hand_in(filled(A1, {}), folder, "unreadable", A1).write_text("{")
    return folder


@pytest.fixture(scope="module")
def graded(submitted, tmp_path_factory):
    """All of them graded by two at once: what the command said, and the file that it wrote."""
    out = tmp_path_factory.mktemp("graded") / "marks.json"
    return autograder("grade", submitted, "--json", out, "--jobs", 2), out


@pytest.mark.slow
def test_a_class_as_json_and_table(graded):
    done, out = graded
    assert done.returncode == 1, done.stderr  # one could not be graded
    reports = {(r["student"], r["assignment"]): r for r in json.loads(out.read_text())}
    assert len(reports) == 2 * len(SOME) + 2
    for assignment in SOME:
        right, untouched = reports["right", assignment.name], reports["untouched", assignment.name]
        assert (right["status"], right["score"], right["max_score"]) == ("graded", 20.0, 20.0)
        assert untouched["score"] == 0.0
        assert [e["name"] for e in right["exercises"]] == [e.name for e in assignment.exercises]
        for exercise in [*right["exercises"], *untouched["exercises"]]:
            assert exercise["score"] == pytest.approx(sum(t["score"] for t in exercise["tests"]), abs=0.01)
            assert exercise["max_score"] == pytest.approx(sum(t["max_score"] for t in exercise["tests"]), abs=0.01)
            assert exercise["diagnosis"] is None
            for test in exercise["tests"]:
                assert set(test) >= {"name", "passed", "score", "max_score", "message"}
                assert test["passed"] == (test["score"] > 0)
    unreadable = reports["unreadable", A1.name]
    assert unreadable["status"] == "failed"
    assert "not a Jupyter notebook" in unreadable["reason"]
    wrong = {e["name"]: e for e in reports["wrong", A1.name]["exercises"]}
    assert 0 < wrong["attention_scores"]["score"] < wrong["attention_scores"]["max_score"]
    assert wrong["scaled_dot_product_attention"]["with_reference"] == ["attention_scores"]
    assert "not a Jupyter notebook" in done.stdout
    assert "20 / 20" in done.stdout
    assert "not graded" in done.stdout


@pytest.mark.slow
def test_json_on_the_terminal_is_nothing_but_json_and_without_a_sandbox_there_is_a_warning(submitted):
    folder = submitted / "right" / A1.name
    done = autograder("grade", folder, "--json", "-", "--jobs", 1, "--sandbox", "process")
    assert done.returncode == 0
    assert [(report["student"], report["score"]) for report in json.loads(done.stdout)] == [("right", 20)]
    assert "without a sandbox" in done.stderr


@pytest.mark.slow
def test_the_same_submissions_give_the_same_report(submitted, graded, tmp_path):
    """By one at a time, too."""
    autograder_here("grade", submitted, "--json", tmp_path / "marks.json", "--jobs", 1)
    assert (tmp_path / "marks.json").read_bytes() == graded[1].read_bytes()


def test_a_wrong_call_says_what_is_wrong_and_ends_with_2(tmp_path):
    for words, expected in (
        (["grade"], "what is to be graded?"),
        (["grade", tmp_path / "none"], "no such file or folder"),
        (["grade", ROOT / "source", "--assignment", "a9"], "there are a1_scaled_dot_product"),
        (["grade", ROOT / "source", "--jobs", "-1"], "--jobs"),
        (["grade", ROOT / "source" / A1.name, "--json", tmp_path / "no" / "where"], "cannot be written"),
        (["demo", ROOT / "tests"], "no earlier demo"),
    ):
        done = autograder_here(*words)
        assert done.returncode == 2, words
        assert expected in " ".join(done.stderr.split())


def test_help_is_one_screen_with_a_line_for_each_command(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, ["--help"])
    assert len(done.output.splitlines()) <= 40
    rows = [line.split()[1] for line in done.output.splitlines() if re.match(r"│ [a-z]+ ", line)]
    assert set(rows) >= {"grade", "regrade", "why", "withdraw", "extend", "return", "check", "dev"}
    for group in ("Grade", "During the term", "From and to other systems", "For students"):
        assert f"─ {group} ─" in done.output


@pytest.mark.parametrize(
    ("words", "example"),
    [("grade", "autograder grade submitted/"), ("demo", "autograder demo"), ("dev sync", "dev sync")],
)
def test_help_shows_a_command_to_paste(words, example):
    assert example in autograder_here(*words.split(), "--help").stdout


@pytest.mark.slow
def test_a_fault_that_is_not_the_students_costs_one_report_and_not_the_run(submitted, monkeypatch):
    judge = Worker._judge
    faults = {"wrong": MachineError("no memory"), "untouched": RuntimeError("oops")}

    def faulty(self, task, *how):
        if task.student in faults:
            raise faults[task.student]
        return judge(self, task, *how)

    monkeypatch.setattr(Worker, "_judge", faulty)
    found = find_submissions([submitted], COURSE, A1.name)
    reports = {report.student: report for report in grade_many(found, ROOT, 1)}
    assert "this machine could not run it: no memory" in reports["wrong"].reason
    assert "the grader itself" in reports["untouched"].reason
    assert reports["right"].score == 20


SHADOWS = ("__future__", "typing", "typer", "rich", "msgspec", "safetensors", "numpy", "pytest", "multiprocessing")
STARTS = {
    "python -m": ["-m", "autograder"],
    # What the console script does; Python puts the script's own folder first.
    "script": ["-c", "import sys; del sys.path[0]; from autograder.__main__ import main; main()"],
}


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_nothing_is_imported_from_the_current_folder(tmp_path, start):
    """Files named like what the kit imports, in somebody else's folder; two workers, which are children."""
    folder = tmp_path / "mallory"
    folder.mkdir()
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'acted')!r}, 'a').write({name!r})\n")
    course = small_course(tmp_path / "course", students=["ada", "ben"])
    words = ["grade", course.root / "submitted", "--course", course.root, "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, *STARTS[start], *map(str, words)], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert not (tmp_path / "acted").exists(), (tmp_path / "acted").read_text()
    assert done.returncode == 0, done.stderr
    assert all(f"{student}, {NAME}: 3 / 3" in done.stdout for student in ("ada", "ben"))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_ended_from_outside_it_leaves_nothing_behind(submitted, tmp_path, how):
    """No process, no control group, no folder of its own."""
    words = [sys.executable, "-P", "-m", "autograder", "grade", str(submitted), "--jobs", "2", "--json", "marks.json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*words, "--course", str(ROOT), "--sandbox", "process"], cwd=tmp_path, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    below = []
    for _ in range(300):
        below = psutil.Process(process.pid).children(recursive=True)
        if len(below) >= 2:
            break
        time.sleep(0.1)
    process.send_signal(how)
    process.wait(timeout=30)
    until = time.monotonic() + 10
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in below):
        assert time.monotonic() < until, below
        time.sleep(0.1)
    assert below
    assert not list((tmp_path / "tmp").glob("cellcage-*"))
    assert not list(Path("/sys/fs/cgroup").glob(f"**/cellcage-{process.pid}-*"))
