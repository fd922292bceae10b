"""`autograder doctor` reports what it finds, and exits with 1 if grading would not be safe."""

from __future__ import annotations

import os
import resource
import time

import pytest
from typer.testing import CliRunner

from autograder.cli.doctor import GOOD, HOLES, LESS, UNSAFE, findings, trial
from autograder.cli.main import app
from autograder.cli.options import warn
from autograder.course.assignments import Course, course_at
from cellcage import MachineError
from cellcage.backends import landlock as landlock_backend
from cellcage.backends import places
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.protocol import frames
from tests.conftest import ROOT
from tests.helpers.small_course import EXERCISE, NAME, small_course

BUBBLEWRAP = backend("bubblewrap")
LANDLOCK = backend("landlock")


def doctor(*words):
    """Its output in one line, and its exit code."""
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["doctor", *words])
    return " ".join(done.output.split()), done.exit_code


@pytest.fixture
def without_trial(monkeypatch):
    """Leaves out the trial run."""
    monkeypatch.setattr("autograder.cli.doctor.trial", lambda course: iter(()))


def pretend_version(version, folder, monkeypatch, mode=0o755):
    """Another bubblewrap comes first, which only says this version."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
    program.chmod(mode)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


NO_BUBBLEWRAP, NO_LANDLOCK = "bubblewrap is not installed", "this kernel has no Landlock"
SAFE, NOT_SAFE = "Grading is safe here.", "Grading is not safe here (sandbox: none)."


@pytest.mark.parametrize(
    ("bubblewrap", "landlock", "abi", "words"),
    [
        (None, None, 7, ("bubblewrap, and Landlock inside it", SAFE)),
        (NO_BUBBLEWRAP, None, 4, ("Landlock and seccomp", "signals", "a kernel from 6.12 on", SAFE)),
        (NO_BUBBLEWRAP, NO_LANDLOCK, 0, ("student code can read the suites", "apt-get install bubblewrap", NOT_SAFE)),
    ],
    ids=["both", "landlock", "none"],
)
def test_available_sandboxes_are_reported(without_trial, monkeypatch, tmp_path, bubblewrap, landlock, abi, words):
    pretend_version("0.12.0", tmp_path, monkeypatch)
    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: bubblewrap)
    monkeypatch.setattr(LANDLOCK, "why_not", lambda: landlock)
    monkeypatch.setattr(landlock_rules, "abi", lambda: abi)
    output, code = doctor()
    assert code == (0 if SAFE in words else 1)
    assert all(part in output for part in words), output


@pytest.mark.parametrize(
    ("version", "mode", "holes"),
    [
        ("0.8.0", 0o755, {"CVE-2026-87766"}),
        ("0.11.1", 0o4755, {"CVE-2026-87766", "CVE-2026-41163"}),
        ("0.12.0", 0o4755, set()),
        ("0.13.1", 0o755, set()),
    ],
)
def test_version_of_bubblewrap_and_its_holes_are_named(tmp_path, monkeypatch, version, mode, holes):
    pretend_version(version, tmp_path, monkeypatch, mode)
    monkeypatch.setattr(BUBBLEWRAP, "why_not", lambda: None)
    found = next(line for line in findings(None) if line.what == "bubblewrap")
    assert version in found.found and found.state == (LESS if holes else GOOD)
    assert {hole for hole, _, _ in HOLES if hole in found.means} == holes
    assert "0.12.0" in found.remedy or not holes


def test_course_in_a_folder_of_libraries_is_not_safe(without_trial, monkeypatch):
    monkeypatch.setattr(places, "SYSTEM", (*places.SYSTEM, str(ROOT.parent)))
    output, code = doctor("--course", str(ROOT))
    assert code == 1
    assert f"student code must read {ROOT.parent.resolve()}" in output and "move the course" in output


def test_grading_warns_about_course_in_a_folder_of_libraries(monkeypatch, capsys):
    warn("landlock", Course(ROOT))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(places, "SYSTEM", (*places.SYSTEM, str(ROOT.parent)))
    warn("landlock", Course(ROOT))
    output = " ".join(capsys.readouterr().err.split())
    assert "student code can read the course" in output and "`autograder doctor`" in output


def test_low_limit_of_open_files_is_not_safe(without_trial, monkeypatch):
    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda one: (16, 16) if one == resource.RLIMIT_NOFILE else real(one))
    output, code = doctor()
    assert code == 1
    assert "no submission could run" in output and "ulimit -n" in output


def test_root_that_cannot_change_its_user_is_reported(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(landlock_backend.system_calls, "permitted_capabilities", lambda: 0b1110)
    assert "ordinary user" in landlock_backend.Landlock.why_not.__wrapped__(LANDLOCK)


@pytest.mark.slow
def test_output_without_a_course_says_how_to_name_one(without_trial, monkeypatch, tmp_path):
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(tmp_path)
        elsewhere.setattr("autograder.cli.main.find_course", lambda: course_at(tmp_path))
        output, _ = doctor()
    assert "run this in a course's folder" in output
    assert "out of student code's reach" in doctor("--course", str(ROOT))[0]


@pytest.mark.slow
def test_trial_run_succeeds_within_a_minute():
    started = time.monotonic()
    output, code = doctor("--course", str(ROOT))
    assert code == 0, output
    assert "20 of 20 points in a1_scaled_dot_product" in output and output.endswith("Grading is safe here.")
    assert time.monotonic() - started < 60  # seconds; it takes 7


@pytest.mark.slow
def test_failed_trial_is_not_safe_and_gives_reasons(monkeypatch, tmp_path):
    """A loop that ends by itself, and a solution that loses marks."""
    monkeypatch.setattr("autograder.cli.doctor.LOOP", "pass")
    course = small_course(tmp_path / "course")
    notebook = course.assignment(NAME).notebook
    notebook.write_text(notebook.read_text().replace("return X - ", "return X + "))
    output, code = doctor("--course", str(course.root))
    assert code == 1
    assert "endless loop it came to an end" in output
    assert f" of 3 points in {NAME} ({EXERCISE}, " in output
    assert f"autograder dev check {NAME}" in output
    assert output.rpartition("Grading is not safe here (")[2].startswith("endless loop: ")


@pytest.mark.slow
@pytest.mark.parametrize("function", ["pair", "send"])
def test_machine_without_resources_is_reported(function, monkeypatch):
    """Whether starting the sandbox or talking to it fails."""

    def no_room(*args, **kwargs):
        raise MachineError("Too many open files (errno 24)")

    monkeypatch.setattr(frames, function, no_room)
    (one,) = trial(None)
    assert (one.what, one.state) == ("trial", UNSAFE)
    assert one.found == "Too many open files (errno 24)"
