"""A judge is confined too, in case a submission takes it over. The tests run code in the place of a judge."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import pytest

from autograder.worker.worker import Judges
from cellcage.limits import Limits
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from cellcage.outside import users
from cellcage.outside.zygote_client import ENVIRONMENT
from cellcage.protocol import frames
from tests.conftest import ROOT, copy_course

LANDLOCK = backend("landlock")

pytestmark = pytest.mark.slow
CHILD = "tests.helpers.probing_judge:Judge"
TESTS = Path(__file__).resolve().parents[1]
PYTHON = (Path(sys.base_prefix).resolve(), *Path(sys.base_prefix).resolve().parents)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with files that a judge must not read."""
    course = copy_course(tmp_path_factory.mktemp("judged") / "course")
    for name in ("submitted/alice/a1/notebook.ipynb", "gradebook.db", "feedback/alice.html", ".env"):
        (course.root / name).parent.mkdir(parents=True, exist_ok=True)
        (course.root / name).write_text("secret")
    return course


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def wall(request, sandbox_of):
    return sandbox_of(request.param).backend


@pytest.fixture(scope="module")
def probe(course, wall):
    """Makes a judge try something, by name, and returns the result."""
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("AUTOGRADER_SECRET", "secret")
        patch.setattr("autograder.worker.worker.JUDGE", CHILD)
        judges = Judges(course.root, wall)
        stack.callback(judges.end)
        # The course's own fork server, which also sees the module of the probing judge.
        judges.zygote.places = (*judges.zygote.places, TESTS)

        def ask(what, *args):
            with judges._server.process(Limits()) as another, judges._server.process(Limits()) as child:
                another.open()
                child.open()
                frames.send(child.sock, {"what": what, "args": list(args)})
                return frames.receive(child.sock)["got"]

        yield ask


def test_judge_cannot_start_processes_or_open_sockets(probe):
    assert probe("alive") == "yes"
    for what in (
        "fork", "vfork", "start_a_thread", "run_a_program", "exec", "socket_of_unix", "socket_of_internet",
        "socket_of_packets", "memfd", "namespaces", "mount", "trace", "open_process", "shared_memory_of_system_v",
    ):  # fmt: skip
        assert probe(what) in {"PermissionError", "OSError", "BlockingIOError", "RuntimeError"}, what


def test_judge_cannot_reach_other_processes(probe):
    for what in (
        "kill", "kill_by_thread", "queue_a_signal", "limit_a_colleague", "own_by_fcntl", "slow_another",
        "read_the_host", "environment_of_the_host",
    ):  # fmt: skip
        assert probe(what) in {"PermissionError", "OSError", "FileNotFoundError"}, what


def test_judge_sees_no_processes_writes_nothing_and_has_one_socket(probe):
    """Neither judges nor notebook processes, although the same zygote forks both. The socket is its own."""
    assert probe("processes") in ([], "PermissionError")
    assert probe("write_everywhere") == []
    assert probe("sockets") == 1


def test_judge_cannot_read_student_data(probe, course):
    for name in ("submitted", "submitted/alice/a1/notebook.ipynb", "gradebook.db", "feedback", ".env", "assignments"):
        assert probe("read", str(course.root / name)) in ("FileNotFoundError", "PermissionError"), name
    for place in ("/etc/passwd", "/var", str(ROOT / ".git"), "/proc/1/environ"):
        assert probe("read", place) in ("FileNotFoundError", "PermissionError"), place
    assert probe("read", str(course.root / "source")) == "read"
    if landlock_rules.abi():
        assert probe("read", "/") == "PermissionError"  # with bubblewrap as well


def test_judge_does_not_inherit_the_environment(probe):
    names = probe("environment")
    assert "AUTOGRADER_SECRET" not in names
    assert not set(names) & (set(os.environ) - set(ENVIRONMENT) - {"HOME", "PWD", "TMPDIR", "LC_CTYPE"})


def test_judge_runs_as_a_user_without_rights(probe, wall):
    # Without mounts, a Python that only root can reach needs one capability.
    private = os.getuid() == 0 and not all(os.stat(path).st_mode & 0o001 for path in PYTHON)
    assert probe("rights") == (4 if private and wall is LANDLOCK else 0)
    if os.getuid() == 0:
        assert probe("user") in users.CANDIDATES


def test_judge_leaves_nothing_for_the_next_one(probe):
    probe("leave")
    assert probe("find") == []


def test_fork_server_survives_its_judges(probe):
    with contextlib.suppress(frames.Closed, frames.WireError):
        probe("end_itself")
    assert probe("alive") == "yes"
