"""`autograder grade` as a person or a script runs it."""

from __future__ import annotations

import contextlib
import json
import os
import re

import pytest
from typer.testing import CliRunner

from autograder.cli.grading import find_submissions
from autograder.cli.main import app
from autograder.errors import MachineError
from autograder.worker import pool
from autograder.worker.worker import Worker
from tests.conftest import ROOT
from tests.helpers.small_course import BUILT, EXERCISE, NAME, SOLVED, WRONG, small_course, submit
from tests.helpers.terminal import autograder, autograder_here, children_of, grade, is_alive, until


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A small class: one submission is right, one has a mistake, one is untouched and one cannot be read.

    The solution imports the course's package: judges may read its folder, but not list the folder around it.
    """
    course = small_course(tmp_path_factory.mktemp("class") / "course", students=["right"], second=True)
    (course.folder / "drawing.py").write_text("plot = print\n")
    solution = course.assignment(NAME).solution
    solution.write_text(f"from {course.folder.name}.drawing import plot\n{solution.read_text()}")
    submit(course, "untouched", {})
    submit(course, "wrong", {EXERCISE: WRONG, BUILT: SOLVED})
    submit(course, "unreadable").write_text("{")
    return course


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """The class graded by two workers: the finished command, and the file that it wrote."""
    out = tmp_path_factory.mktemp("graded") / "marks.json"
    return autograder("grade", "submitted", "--json", out, "--jobs", 2, cwd=course.root), out


@pytest.mark.slow
def test_grade_writes_json_and_a_table(graded):
    done, out = graded
    assert done.returncode == 1, done.stderr  # one could not be graded
    reports = {report["student"]: report for report in json.loads(out.read_text())}
    assert len(reports) == 4
    right, untouched = reports["right"], reports["untouched"]
    assert (right["status"], right["score"], right["max_score"]) == ("graded", 6.0, 6.0)
    assert untouched["score"] == 0.0
    assert [e["name"] for e in right["exercises"]] == [EXERCISE, BUILT]
    for exercise in [*right["exercises"], *untouched["exercises"]]:
        assert exercise["score"] == pytest.approx(sum(t["score"] for t in exercise["tests"]), abs=0.01)
        assert exercise["max_score"] == pytest.approx(sum(t["max_score"] for t in exercise["tests"]), abs=0.01)
        assert exercise["diagnosis"] is None
        for test in exercise["tests"]:
            assert set(test) >= {"name", "passed", "score", "max_score", "message"}
            assert test["passed"] == (test["score"] > 0)
    assert reports["unreadable"]["status"] == "failed"
    assert "not a Jupyter notebook" in reports["unreadable"]["reason"]
    first, second = reports["wrong"]["exercises"]
    assert 0 < first["score"] < first["max_score"]
    assert (first["diagnosis"], second["with_reference"], second["score"]) == ("one-mean-for-all", [EXERCISE], 3)
    assert "not a Jupyter notebook" in done.stdout
    assert "6 / 6" in done.stdout
    assert "not graded" in done.stdout


@pytest.mark.slow
def test_heads_of_the_table_are_whole_in_each_width(course, graded):
    """Broken at underscores, and in a narrow terminal numbers with a key."""
    assert re.search(r"^ +row_ *$\n^ student +marks +centred +doubled *$", graded[0].stdout, re.M)
    narrow = autograder("grade", "submitted", cwd=course.root, columns=40).stdout
    assert re.search(r"^ student +marks +1 +2 *$", narrow, re.M)
    assert re.findall(r"^(\d): (\w+) *$", narrow, re.M) == [("1", EXERCISE), ("2", BUILT)]
    assert all(re.search(rf"^ {student} ", narrow, re.M) for student in ("right", "untouched", "unreadable", "wrong"))


@pytest.mark.slow
def test_json_on_stdout_is_pure_and_missing_sandbox_warns_on_stderr(course):
    words = ("grade", f"submitted/right/{NAME}", "--json", "-", "--jobs", 1, "--sandbox", "process")
    done = autograder(*words, cwd=course.root)
    assert done.returncode == 0
    assert [(report["student"], report["score"]) for report in json.loads(done.stdout)] == [("right", 6)]
    assert "without a sandbox" in done.stderr


@pytest.mark.slow
def test_report_does_not_depend_on_the_number_of_workers(course, graded, tmp_path):
    autograder_here("grade", "submitted", "--json", tmp_path / "marks.json", "--jobs", 1, cwd=course.root)
    assert (tmp_path / "marks.json").read_bytes() == graded[1].read_bytes()


@pytest.mark.slow
def test_wrong_arguments_are_explained_with_exit_code_2(tmp_path):
    (tmp_path / "none.json").write_text("[]")
    for_classroom = ["export", tmp_path / "none.json", "--classroom50", tmp_path / "result.json", "--points"]
    for words, expected in (
        (["grade"], "nothing to grade"),
        (["grade", tmp_path / "none"], "no such file or folder"),
        (["grade", ROOT / "source", "--assignment", "a9"], "there are a1_scaled_dot_product"),
        (["dev", "check", "a9"], "there are a1_scaled_dot_product"),
        (["grade", ROOT / "source", "--jobs", "-1"], "--jobs"),
        (["grade", ROOT / "source" / "a3_heads", "--json", tmp_path / "no" / "where"], "cannot be written"),
        (["demo", ROOT / "tests"], "not an earlier demo"),
        (["export", ROOT / "mkdocs.yml"], "--gradescope"),
        (["bundle", "a3_heads"], "--classroom50"),
        *(([*for_classroom, f"a={points}"], "write it as median=4,mode=5") for points in ("nan", "1e400", "-1", "x")),
        *((["extend", "ada", "a3_heads", "--days", days], "at most 3650") for days in ("1e300", "inf", "1e8")),
        (["extend", "ada", "a3_heads", "--days", "nan"], "--days"),
    ):
        done = autograder_here(*words)
        assert done.returncode == 2, words
        assert expected in " ".join(done.stderr.split())


def test_help_fits_one_screen_and_groups_commands(monkeypatch):
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
def test_grader_fault_in_one_submission_does_not_stop_the_run(course, monkeypatch):
    judge = Worker._judged_with_retry
    faults = {"wrong": MachineError("no memory"), "untouched": RuntimeError("oops")}

    def faulty(self, task, *how):
        if task.student in faults:
            raise faults[task.student]
        return judge(self, task, *how)

    monkeypatch.setattr(Worker, "_judged_with_retry", faulty)
    found = find_submissions([course.root / "submitted"], course, NAME)
    with contextlib.closing(pool.open_pool(course.root, len(found))) as workers:
        reports = {marked.report.student: marked.report for marked in pool.grade(found, course, workers)}
    assert "this machine could not run it: no memory" in reports["wrong"].reason
    assert "the grader itself" in reports["untouched"].reason
    assert reports["right"].score == 6


SHADOWS = ("__future__", "typing", "typer", "rich", "msgspec", "safetensors", "numpy", "pytest", "multiprocessing")


@pytest.mark.slow
def test_nothing_is_imported_from_the_current_folder(course, tmp_path):
    """In a folder with files named like imported modules, neither the command nor its two workers import them."""
    folder = tmp_path / "mallory"
    folder.mkdir()
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'acted')!r}, 'a').write({name!r})\n")
    done = autograder("grade", course.root / "submitted", "--course", course.root, "--jobs", 2, cwd=folder)
    assert not (tmp_path / "acted").exists(), (tmp_path / "acted").read_text()
    assert "6 / 6" in done.stdout, done.stderr


@pytest.mark.slow
def test_terminated_run_leaves_nothing_behind(course, tmp_path, monkeypatch):
    """No process, control group or temporary folder remains."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    options = ("--json", str(tmp_path / "marks.json"), "--jobs", "2", "--sandbox", "process")
    process = grade(course, "submitted", *options, wait=False)
    until(lambda: len(children_of(process)) >= 2)
    children = children_of(process)
    process.terminate()
    process.communicate(timeout=30)
    until(lambda: not any(map(is_alive, children)))
    assert not list((tmp_path / "tmp").glob("cellcage-*"))
    # os.walk passes over groups that other tests' processes remove meanwhile; Path.glob does not.
    groups = {name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names}
    assert not any(name.startswith(f"cellcage-{process.pid}-") for name in groups)
