"""A course inside a submission is never used, because its Python would run outside the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.sample_class import fill, hand_in
from autograder.course.assignments import course_around, course_at
from autograder.errors import CourseError
from autograder.nbgrader import api
from tests.conftest import ROOT
from tests.helpers.small_course import NAME as SMALL
from tests.helpers.small_course import book_of, submit
from tests.helpers.terminal import autograder_here

NAME = "a1_scaled_dot_product"


def plant(folder, marker):
    """A course whose files all leave a marker if they run."""
    acts = f"with open({str(marker)!r}, 'a') as marker:\n    marker.write(__file__ + '\\n')\n"
    shutil.copytree(ROOT / "source" / NAME, folder / "source" / NAME)
    own = ("hidden_tests.py", "visible_tests.py", "mistakes.py", "../../relations.py")
    names = "nbgrader_config.py", f"solutions/{NAME}/scaled_dot_product.py", "autograder.py", "numpy.py", "conftest.py"
    for name in (*names, *(f"content/{NAME}/softmax/{name}" for name in own)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(acts)
    (folder / "content" / "course.toml").touch()


@pytest.mark.slow
def test_planted_course_is_not_used(own_course, tmp_path):
    assignment = own_course.assignment(NAME)
    untouched = fill(ROOT / "assignments" / NAME / assignment.notebook.name, {})
    folder = hand_in(untouched, own_course.root / "submitted", "mallory", assignment).parent
    plant(folder, tmp_path / "acted")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "autograder", "grade", ".", "--json", "-"],
        cwd=folder, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert not (tmp_path / "acted").exists(), (tmp_path / "acted").read_text()
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)
    assert (report["status"], report["score"]) == ("graded", 0)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["repository", "repository/submitted/ada"])
def test_check_runs_nothing_of_the_repository_around_a_notebook(tmp_path, place, shared_sandbox):
    """A clone of a student's repository belongs to the person who has cloned it, and so does all in it."""
    repository = tmp_path / "repository"
    notebook = tmp_path / place / NAME / "scaled_dot_product.ipynb"
    notebook.parent.mkdir(parents=True)
    shutil.copy(ROOT / "assignments" / NAME / notebook.name, notebook)
    plant(repository, tmp_path / "acted")
    for folder in (repository, notebook.parent):
        done = autograder_here("check", notebook.relative_to(folder), cwd=folder)
        assert not (tmp_path / "acted").exists(), (tmp_path / "acted").read_text()
        assert (done.returncode, "0 of 4 exercises of a1" in done.stdout) == (1, True)
        assert f"is not used: it may be another person's course. If it is yours, add --course {repository}" in " ".join(
            done.stdout.split()
        )
    autograder_here("progress", repository)
    assert not (tmp_path / "acted").exists()
    autograder_here("check", notebook, "--course", repository)
    assert "visible_tests.py" in (tmp_path / "acted").read_text()


@pytest.mark.slow
def test_invalid_timestamp_file_fails_only_its_submission(course):
    """A link would be followed, and a pipe would block."""
    times = {"ada": "", "late": "2026-01-02 03:04:05 UTC", "words": "9" * 500}
    for student, when in times.items():
        submit(course, student, when=when)
    os.mkfifo(submit(course, "pipe").with_name("timestamp.txt"))
    submit(course, "link").with_name("timestamp.txt").symlink_to("/etc/hostname")
    log = api(course.root).autograde(SMALL, "*")["log"]
    for student in ("link", "pipe", "words"):
        assert f"{student}, {SMALL} cannot be graded: timestamp.txt" in log
    with book_of(course) as book:
        assert [one.student.id for one in book.assignment_submissions(SMALL)] == ["ada", "late"]


def make_course(folder):
    (folder / "source").mkdir(parents=True)
    (folder / "nbgrader_config.py").touch()
    return folder


def nearest(start, handed_in=()):
    return course_around(start, handed_in).root


def test_course_is_searched_outside_submissions(tmp_path):
    course = make_course(tmp_path / "course")
    inner = make_course(course / "submitted" / "mallory" / "a1")
    demo = make_course(course / "demo")
    loose = make_course(tmp_path / "loose" / "mallory")
    (loose / "a1").mkdir()
    (tmp_path / "link").symlink_to(loose)
    assert nearest(course / "source") == course
    assert nearest(inner) == course
    assert nearest(make_course(course / "autograded" / "mallory" / "a1")) == course
    assert nearest(demo) == demo
    assert nearest(loose) == loose
    assert nearest(course, [course / "submitted", Path("x.ipynb")]) == course
    for handed_in in (loose, loose / "x.ipynb", tmp_path / "loose", tmp_path / "link", tmp_path / "link" / "x.ipynb"):
        assert nearest(loose / "a1", [handed_in]) == ROOT  # the kit's own
    assert course_at(loose).root == loose  # given explicitly
    with pytest.raises(CourseError, match="no course here"):
        course_at(tmp_path)
