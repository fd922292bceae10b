"""What a judge cannot do, even if what it reads has taken it over. Each test runs as such a child."""

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
    """A course with what a judge must not see."""
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
    """What a judge answers: it tries something by name, and says what came of it."""
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("AUTOGRADER_SECRET", "secret")
        patch.setattr("autograder.worker.worker.JUDGE", CHILD)
        judges = Judges(course.root, wall)
        stack.callback(judges.end)
        # The very host of a course, which also sees where the child's module lies.
        judges.zygote.places = (*judges.zygote.places, TESTS)

        def ask(what, *args):
            with judges._server.open(Limits()), judges._server.open(Limits()) as child:
                frames.send(child.sock, {"what": what, "args": list(args)})
                return frames.receive(child.sock)["got"]

        yield ask


def test_it_starts_and_opens_nothing(probe):
    assert probe("alive") == "yes"
    for what in (
        "fork", "vfork", "start_a_thread", "run_a_program", "exec", "socket_of_unix", "socket_of_internet",
        "socket_of_packets", "memfd", "namespaces", "mount", "trace", "open_process", "shared_memory_of_system_v",
    ):  # fmt: skip
        assert probe(what) in {"PermissionError", "OSError", "BlockingIOError", "RuntimeError"}, what


def test_it_reaches_no_other_process(probe):
    for what in (
        "kill", "kill_by_thread", "queue_a_signal", "limit_a_colleague", "own_by_fcntl", "slow_another",
        "read_the_host", "environment_of_the_host",
    ):  # fmt: skip
        assert probe(what) in {"PermissionError", "OSError", "FileNotFoundError"}, what


def test_it_sees_no_process(probe):
    """Neither another judge nor a notebook, though one zygote has forked the hosts of both."""
    assert probe("processes") in ([], "PermissionError")


def test_it_writes_nowhere(probe):
    assert probe("write_everywhere") == []


def test_it_reads_nothing_of_students(probe, course):
    for name in ("submitted", "submitted/alice/a1/notebook.ipynb", "gradebook.db", "feedback", ".env", "assignments"):
        assert probe("read", str(course.root / name)) in ("FileNotFoundError", "PermissionError"), name
    for place in ("/etc/passwd", "/var", str(ROOT / ".git"), "/proc/1/environ"):
        assert probe("read", place) in ("FileNotFoundError", "PermissionError"), place
    assert probe("read", str(course.root / "source")) == "read"
    if landlock_rules.abi():
        assert probe("read", "/") == "PermissionError"  # also behind bubblewrap, where it is a root of its own


def test_it_sees_no_variable_of_the_environment(probe):
    names = probe("environment")
    assert "AUTOGRADER_SECRET" not in names
    assert not set(names) & (set(os.environ) - set(ENVIRONMENT) - {"HOME", "PWD", "TMPDIR", "LC_CTYPE"})


def test_it_is_a_user_that_owns_nothing(probe, wall):
    # If there are no mounts, a Python that root alone can get at takes the right to look it up.
    private = os.getuid() == 0 and not all(os.stat(path).st_mode & 0o001 for path in PYTHON)
    assert probe("rights") == (4 if private and wall is LANDLOCK else 0)
    if os.getuid() == 0:
        assert probe("user") in users.CANDIDATES


def test_it_holds_no_descriptor_but_its_own(probe):
    """Not the host's control socket, and no other submission's."""
    assert probe("sockets") == 1


def test_one_finds_nothing_that_another_left(probe):
    probe("leave")
    assert probe("find") == []


def test_the_host_lives_on(probe):
    with contextlib.suppress(frames.Closed, frames.WireError):
        probe("end_itself")
    assert probe("alive") == "yes"
