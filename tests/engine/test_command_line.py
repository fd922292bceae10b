"""`autograder grade` as a person or a script calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.discovery import find_submissions
from autograder.errors import MachineError
from autograder.worker.pool import grade_many
from autograder.worker.worker import Worker
from tests.conftest import ROOT
from tests.helpers.small_course import BUILT, EXERCISE, NAME, WRONG, small_course, submit
from tests.helpers.terminal import autograder, autograder_here

EXERCISES = (EXERCISE, BUILT)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Two exercises and a small class: everything right, one mistake, untouched, and one that cannot be read."""
    course = small_course(tmp_path_factory.mktemp("class") / "course", students=["right"], second=True)
    submit(course, "wrong", model_answers(course.assignment(NAME)) | {EXERCISE: WRONG})
    submit(course, "untouched", {})
    submit(course, "unreadable").write_text("{")
    return course


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """All of them graded by two at once: what the command said, and the file that it wrote."""
    out = tmp_path_factory.mktemp("graded") / "marks.json"
    return autograder("grade", "submitted", "--json", out, "--jobs", 2, cwd=course.root), out


@pytest.mark.slow
def test_a_class_as_json_and_table(graded):
    done, out = graded
    assert done.returncode == 1, done.stderr  # one could not be graded
    reports = {one["student"]: one for one in json.loads(out.read_text())}
    right, wrong, untouched, unreadable = (reports[name] for name in ("right", "wrong", "untouched", "unreadable"))
    assert (right["status"], right["score"], right["max_score"]) == ("graded", 6, 6)
    assert untouched["score"] == 0
    for report in (right, wrong, untouched):
        assert tuple(one["name"] for one in report["exercises"]) == EXERCISES
        for exercise in report["exercises"]:
            assert exercise["score"] == pytest.approx(sum(test["score"] for test in exercise["tests"]), abs=0.01)
            assert exercise["max_score"] == pytest.approx(
                sum(test["max_score"] for test in exercise["tests"]), abs=0.01
            )
            for test in exercise["tests"]:
                assert set(test) >= {"name", "passed", "score", "max_score", "message"}
                assert test["passed"] == (test["score"] > 0)
    assert unreadable["status"] == "failed"
    assert "not a Jupyter notebook" in unreadable["reason"]
    first, built = wrong["exercises"]
    assert 0 < first["score"] < first["max_score"]
    assert built["with_reference"] == [EXERCISE]
    assert "not a Jupyter notebook" in done.stdout
    assert "6 / 6" in done.stdout
    assert "not graded" in done.stdout


@pytest.mark.slow
def test_json_on_the_terminal_is_nothing_but_json_and_without_a_sandbox_there_is_a_warning(course):
    done = autograder("grade", "submitted/right", "--json", "-", "--jobs", 1, "--sandbox", "process", cwd=course.root)
    assert done.returncode == 0
    assert [(report["student"], report["score"]) for report in json.loads(done.stdout)] == [("right", 6)]
    assert "without a sandbox" in done.stderr


@pytest.mark.slow
def test_the_same_submissions_give_the_same_report(course, graded, tmp_path):
    """By one at a time, too."""
    autograder_here("grade", "submitted", "--json", tmp_path / "marks.json", "--jobs", 1, cwd=course.root)
    assert (tmp_path / "marks.json").read_bytes() == graded[1].read_bytes()


def test_a_wrong_call_says_what_is_wrong_and_ends_with_2(course, tmp_path):
    for words, expected in (
        (["grade"], "what is to be graded?"),
        (["grade", tmp_path / "none"], "no such file or folder"),
        (["grade", "source", "--assignment", "a9"], f"there are {NAME}"),
        (["grade", "source", "--jobs", "-1"], "--jobs"),
        (["grade", f"source/{NAME}", "--json", tmp_path / "no" / "where"], "cannot be written"),
        (["demo", "source"], "no earlier demo"),
    ):
        done = autograder_here(*words, cwd=course.root)
        assert done.returncode == 2, words
        assert expected in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_fault_that_is_not_the_students_costs_one_report_and_not_the_run(course, monkeypatch):
    judge = Worker._judge
    faults = {"wrong": MachineError("no memory"), "untouched": RuntimeError("oops")}

    def faulty(self, task, *how):
        if task.student in faults:
            raise faults[task.student]
        return judge(self, task, *how)

    monkeypatch.setattr(Worker, "_judge", faulty)
    found = find_submissions([course.root / "submitted"], course)
    reports = {report.student: report for report in grade_many(found, course.root, 1)}
    assert "this machine could not run it: no memory" in reports["wrong"].reason
    assert "the grader itself" in reports["untouched"].reason
    assert reports["right"].score == 6


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
def test_ended_from_outside_it_leaves_nothing_behind(course, tmp_path, how):
    """No process, no control group, no folder of its own."""
    words = [
        sys.executable,
        "-P",
        "-m",
        "autograder",
        "grade",
        str(course.root / "submitted"),
        "--jobs",
        "2",
        "--json",
        "marks.json",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*words, "--course", str(course.root), "--sandbox", "process"], cwd=tmp_path, env=environment,
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
