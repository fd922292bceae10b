"""Grading as an ordinary user, in containers, on Gradescope, and without user namespaces."""

from __future__ import annotations

import json
import os
import zipfile

import nbformat
import pytest

from autograder.authoring.sample_class import hand_in, model_answers
from autograder.course.assignments import Course
from autograder.systems.gradescope import write_bundle
from tests.conftest import ROOT
from tests.helpers.places import ORDINARY, Machine
from tests.helpers.releases import filled

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user, and mount"),
]
A1 = "a1_scaled_dot_product"
# Fails if it can read anything of the course or keeps a right; also leaves a process behind.
CURIOUS = """
import os, subprocess
found = []
for place in ({kit!r}, {kit!r} + "/solutions",
        {kit!r} + "/attention_course/a1_scaled_dot_product/softmax/hidden_tests.py",
              {kit!r} + "/class/other/{a1}", "/etc/passwd", "/proc/1/environ", "/sys"):
    try:
        found.append(os.listdir(place) if os.path.isdir(place) else open(place).read())
    except OSError:
        pass
assert not found
import ctypes
data = (ctypes.c_uint32 * 6)()
ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(0x20080522, 0), data)
assert not any(data), "a capability is left"
import fcntl, resource, socket
one, other = socket.socketpair()
library = os.open("/usr/bin/env", os.O_RDONLY)
# Resources that the kernel shares between processes.
for act in (lambda: socket.send_fds(one, [b"x"], [library]), lambda: fcntl.flock(library, fcntl.LOCK_SH),
            lambda: os.preadv(library, [bytearray(9)], 0, 8)):
    try:
        act()
    except PermissionError:
        continue
    raise AssertionError("not refused")
assert ctypes.CDLL(None).inotify_init() == -1
assert resource.getrlimit(resource.RLIMIT_SIGPENDING)[1] <= 64
subprocess.Popen(["sleep", "1234.567"])
"""
FORGED = """
for name in ("results/results.json", "results/forged", "source/forged", "forged", "submission/mine.ipynb"):
    try:
        open(os.path.join({root!r}, name), "w").write('{{"score": 20}}')
    except OSError:
        continue
    raise AssertionError(name)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    assignment = Course(ROOT).assignment(A1)
    answers = model_answers(assignment)
    curious = CURIOUS.format(kit=str(machine.kit), a1=A1)
    for name, first in (("curious", curious), ("other", "")):
        own = answers | {"softmax": first + answers["softmax"]}
        hand_in(filled(assignment, own), machine.kit / "class", name, assignment)
    return machine


def assert_full_marks(done):
    assert done.returncode == 0, done.stdout + done.stderr
    reports = json.loads(done.stdout)
    assert [(report["student"], report["score"]) for report in reports] == [("curious", 20), ("other", 20)], reports


def test_gradescope_results_and_hidden_tests_are_out_of_reach(machine):
    """Docker starts it as root. The submission tries to write its own marks and to read everything else."""
    assignment, gradescope = Course(ROOT).assignment(A1), machine.folder / "autograder"
    write_bundle(assignment, machine.folder / "a1.zip", "after_due_date", needs_sandbox=True)
    with zipfile.ZipFile(machine.folder / "a1.zip") as bundle:
        bundle.extractall(gradescope / "source")
    (gradescope / "source" / "run_autograder").rename(gradescope / "run_autograder")
    (gradescope / "venv").symlink_to(machine.environment)
    (gradescope / "results").mkdir()
    answers = model_answers(assignment)
    curious = CURIOUS.format(kit=str(gradescope / "source"), a1=A1) + FORGED.format(root=str(gradescope))
    answers |= {"softmax": curious + answers["softmax"], "attention_scores": "def attention_scores(Q, K): return Q"}
    submission = gradescope / "submission"
    submission.mkdir()
    nbformat.write(filled(assignment, answers), submission / "mine.ipynb")
    done = machine.call(gradescope, "/bin/bash", "./run_autograder", container=True, writable=gradescope)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr
    results = json.loads((gradescope / "results" / "results.json").read_text())
    by_exercise = {}
    for test in results["tests"]:
        by_exercise.setdefault(test["number"].split(".")[0], []).append(test["score"] == test["max_score"])
    assert 0 < results["score"] < 20
    assert all(by_exercise["1"])  # the cell of softmax ran to its end, so it found nothing
    assert not all(by_exercise["2"])


def grade_class(machine, kind, **how):
    return machine.run("grade", "class", "--json", "-", "--sandbox", kind, **how)


def test_ordinary_user_can_grade(machine):
    """A user who owns none of the files."""
    assert_full_marks(grade_class(machine, "bubblewrap", user=ORDINARY))


@pytest.mark.catalogue
def test_python_and_course_below_symlinked_folders(machine):
    """The environment names its Python by a link to a folder above it, and is itself reached by such a link."""
    home = machine.folder.with_name("home")
    home.symlink_to(machine.folder)
    own = machine.folder / "own"
    (own / "bin").mkdir(parents=True)
    (own / "lib").symlink_to(machine.environment / "lib")
    (own / "pyvenv.cfg").write_text(f"home = {machine.base}/bin\n")
    (own / "bin" / "python").symlink_to(home / "python" / "bin" / "python3")
    words = ("-m", "autograder", "grade", "class", "--json", "-", "--sandbox", "bubblewrap")
    done = machine.call(home / "kit", str(home / "own" / "bin" / "python"), *words)
    assert_full_marks(done)
    assert "warning" not in done.stderr


@pytest.mark.catalogue  # the test above grades in such a container, too
@pytest.mark.parametrize("user", [0, ORDINARY])
def test_container_grades_with_landlock(machine, user):
    """With Docker's default profile and capabilities, a read-only root and no control group."""
    done = grade_class(machine, "auto", user=user, container=True)
    assert_full_marks(done)
    assert "warning" not in done.stderr
    assert not list(machine.scratch.iterdir())


@pytest.mark.catalogue
def test_doctor_in_a_container_reports_the_backend(machine):
    done = machine.run("doctor", user=ORDINARY, container=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bubblewrap does not work here" in done.stdout and "Landlock and seccomp" in done.stdout
    refused = grade_class(machine, "bubblewrap", user=ORDINARY, container=True)
    assert refused.returncode == 2
    assert "bubblewrap does not work here" in refused.stderr


@pytest.mark.catalogue
def test_root_without_user_namespaces_grades_with_landlock(machine):
    """Root can still mount, so bubblewrap itself starts, but its forks for submissions don't."""
    done = grade_class(machine, "auto", last_namespace=True)
    assert_full_marks(done)
    assert "warning" not in done.stderr
