"""`autograder doctor`: it says what is there, and ends with 1 where grading would not be safe."""

from __future__ import annotations

import json
import os
import resource
import time

import pytest
from typer.testing import CliRunner

from autograder.cli import doctor_trial
from autograder.cli.doctor import UNSAFE
from autograder.cli.main import app
from autograder.cli.options import warn
from autograder.course.assignments import Course, course_at
from cellcage.backends import landlock as landlock_backend
from cellcage.backends import places
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.protocol import frames
from tests.conftest import ROOT

BUBBLEWRAP = backend("bubblewrap")
LANDLOCK = backend("landlock")


def doctor(*words):
    """What it says, in one line, and its exit code."""
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["doctor", *words])
    return " ".join(done.output.split()), done.exit_code


@pytest.fixture
def untried(monkeypatch):
    """Nothing is tried."""
    monkeypatch.setattr(doctor_trial, "trial", lambda course: iter(()))


def test_two_walls_are_safe(untried, monkeypatch):
    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: None)
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 7)
    said, code = doctor()
    assert code == 0
    assert "bubblewrap, and Landlock inside it" in said and said.endswith("Grading is safe here.")


def test_landlock_alone_is_safe_and_says_what_an_older_kernel_lacks(untried, monkeypatch):
    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: None)
    monkeypatch.setattr(landlock_rules, "abi", lambda: 4)
    said, code = doctor()
    assert code == 0
    assert "Landlock and seccomp" in said and "signals" in said and "a kernel from 6.12 on" in said


def test_no_wall_is_not_safe_and_names_the_remedy(untried, monkeypatch):
    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: "this kernel has no Landlock")
    said, code = doctor()
    assert code == 1
    assert "student code can read the suites" in said and "apt-get install bubblewrap" in said
    assert said.endswith("Grading is not safe here (sandbox: none).")


def test_a_course_among_the_libraries_is_not_safe(untried, monkeypatch):
    monkeypatch.setattr(places, "SYSTEM", (*places.SYSTEM, str(ROOT.parent)))
    said, code = doctor("--course", str(ROOT))
    assert code == 1
    assert f"student code must read {ROOT.parent.resolve()}" in said and "move the course" in said


def test_grading_warns_of_a_course_among_the_libraries_and_points_to_the_doctor(monkeypatch, capsys):
    warn("landlock", Course(ROOT))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(places, "SYSTEM", (*places.SYSTEM, str(ROOT.parent)))
    warn("landlock", Course(ROOT))
    said = " ".join(capsys.readouterr().err.split())
    assert "student code can read the course" in said and "`autograder doctor`" in said


def test_a_limit_that_is_too_low_is_not_safe(untried, monkeypatch):
    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda one: (16, 16) if one == resource.RLIMIT_NOFILE else real(one))
    said, code = doctor()
    assert code == 1
    assert "no submission could run" in said and "ulimit -n" in said


def test_root_without_the_right_to_become_another_user_is_told_to_start_as_one(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(landlock_backend.isolation, "permitted_capabilities", lambda: 0b1110)
    assert "ordinary user" in landlock_backend.Landlock.why_not.__wrapped__(LANDLOCK)


@pytest.mark.slow
def test_without_a_course_it_says_how_to_ask_about_one(untried, monkeypatch, tmp_path):
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(tmp_path)
        elsewhere.setattr("autograder.cli.main.find_course", lambda: course_at(tmp_path))
        said, _ = doctor()
    assert "run this in a course's folder" in said
    assert "out of student code's reach" in doctor("--course", str(ROOT))[0]


@pytest.mark.slow
def test_where_grading_works_a_trial_says_so_in_seconds():
    started = time.monotonic()
    said, code = doctor("--course", str(ROOT))
    assert code == 0, said
    assert "student code finds what it imports" in said
    assert "20 of 20 points in a1_scaled_dot_product" in said and said.endswith("Grading is safe here.")
    assert time.monotonic() - started < 60  # seconds; it takes 7


@pytest.mark.slow
def test_a_trial_that_fails_is_not_safe_and_says_why(monkeypatch, own_course):
    """A module that student code does not find, a loop that ends by itself, a solution that loses marks."""
    monkeypatch.setattr(doctor_trial, "IMPORTED", ("random", "no_such_module"))
    monkeypatch.setattr(doctor_trial, "LOOP", "pass")
    notebook = own_course.assignment("a1_scaled_dot_product").notebook
    data = json.loads(notebook.read_text())
    (cell,) = (one for one in data["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == "softmax")
    cell["source"] = "def softmax(x, axis=-1):\n    return x"
    notebook.write_text(json.dumps(data))
    said, code = doctor("--course", str(own_course.root))
    assert code == 1
    assert "no_such_module cannot be imported (ModuleNotFoundError: No module named 'no_such_module')" in said
    assert "endless loop it came to an end" in said
    assert " of 20 points in a1_scaled_dot_product (softmax, " in said
    assert "autograder dev check a1_scaled_dot_product" in said
    assert said.rpartition("Grading is not safe here (")[2].startswith("imports: no_such_module")


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["pair", "send"])
def test_a_machine_that_is_short_of_something_is_told_so(asked, monkeypatch):
    """Whatever it is that finds no room: starting the sandbox, or talking to it."""

    def no_room(*args, **kwargs):
        raise frames.Exhausted("Too many open files (errno 24)")

    monkeypatch.setattr(frames, asked, no_room)
    (one,) = doctor_trial.trial(None)
    assert (one.what, one.state) == ("trial", UNSAFE)
    assert one.found == "Too many open files (errno 24)"
