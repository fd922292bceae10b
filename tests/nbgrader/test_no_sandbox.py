"""Where no sandbox works, no command runs student code unless a person asks for that."""

from __future__ import annotations

import pytest

from autograder.authoring import course_check
from cellcage.machine import backend
from tests.helpers.small_course import NAME, NOTEBOOK, nbgrader, submit
from tests.helpers.terminal import autograder_here

WRITTEN = f"submitted/ada/{NAME}/{NOTEBOOK}"
ASKED_FOR = "without a sandbox, since that was asked for"


@pytest.fixture
def submitted(course, monkeypatch):
    """A course with a submission, on a machine without bubblewrap and Landlock."""
    monkeypatch.setattr(backend("bubblewrap"), "why_not", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(backend("landlock"), "why_not", lambda: "this kernel has no Landlock")
    submit(course, "ada")
    return course


def said(course, *words):
    done = autograder_here(*words, cwd=course.root)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def assert_refused(output):
    assert "no sandbox works here: bubblewrap is not installed, and this kernel has no Landlock" in output
    for help_with in ("autograder doctor", "docs/containers.md", "--sandbox process", "--Mark.sandbox=process"):
        assert help_with in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "words",
    [
        ("grade", WRITTEN),
        ("grade", "--gradebook"),
        ("regrade", NAME),
        ("withdraw", "row_centred"),
        ("check", WRITTEN, "--course", "."),
        ("check", WRITTEN, "--course", ".", "--watch"),
        ("demo", "demo"),
    ],
    ids=" ".join,
)
def test_commands_refuse_and_say_what_helps(submitted, words):
    code, output = said(submitted, *words)
    assert code == 2
    assert_refused(output)


def test_nbgrader_autograde_refuses_and_says_what_helps(submitted):
    assert_refused(nbgrader(submitted, "autograde", NAME, code=1))
    assert not (submitted.root / "autograded").exists()


@pytest.mark.slow
def test_grading_goes_on_if_asked_to(submitted):
    code, output = said(submitted, "grade", WRITTEN, "--sandbox", "process")
    assert code == 0 and ASKED_FOR in output
    nbgrader(submitted, "autograde", NAME, "--Mark.sandbox=process")
    assert (submitted.root / "autograded" / "ada" / NAME / NOTEBOOK).is_file()


@pytest.mark.slow
def test_check_goes_on_if_asked_to(submitted):
    _, output = said(submitted, "check", WRITTEN, "--course", ".", "--sandbox", "process")
    assert "1 of 1 visible tests pass" in output


@pytest.mark.slow
def test_a_courses_own_notebooks_need_no_sandbox(submitted):
    (checked,) = course_check.check_course(submitted, [NAME])
    assert not [problem for problem in checked.problems if "sandbox" in str(problem)]
