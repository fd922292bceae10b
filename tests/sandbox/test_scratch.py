"""Where no mount keeps a submission's files small: nobody fills the disk, and whoever tries is told so."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time

import pytest

from autograder.authoring.sample_class import model_answers
from cellcage.linux import landlock_rules
from tests.helpers.calls import Lost, ask, define
from tests.helpers.sandboxes import Marker, Sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not landlock_rules.abi(), reason="this kernel has no Landlock"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a disk of its own to be measured"),
]
MIB = 2**20
MOST = 1024 * MIB  # on disk at any moment, on a machine that is busy with other tests; 256 where it is not
SOON = 2  # seconds until no more is there than a submission may have; 0.5 where nothing else runs
FILL = """
import mmap, os, time
def more(name, how, held):
    held.append(os.open(name, os.O_RDWR | os.O_CREAT))
    if how == "removed":
        os.unlink(name)
    if how == "mapped":
        os.ftruncate(held[-1], 64 << 20)
        held.append(mmap.mmap(held[-1], 64 << 20))
        held[-1][:] = bytes(64 << 20)
    else:
        for _ in range(16):
            os.write(held[-1], bytes(4 << 20))
def fill(how):
    if how == "in a folder that nobody may list":
        os.mkdir("closed", 0o300)
        os.chdir("closed")
    if how == "in a folder too deep to be named":
        for _ in range(40):
            os.mkdir("deep" * 50)
            os.chdir("deep" * 50)
    for number in range(4):
        if os.fork() == 0:
            break
    held = []
    for count in range(10**6):
        try:
            more(f"{os.getpid()}-{count}", how, held)
        except OSError:
            time.sleep(0.01)
def right(): return 1
"""


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A disk of 4 GB that nobody else writes on, for scratch."""
    place = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4G,mode=1777", "none", place], check=True)
    before, tempfile.tempdir = tempfile.tempdir, str(place)
    for folder in (place, *(one for one in place.parents if "pytest" in str(one))):
        folder.chmod(0o755)
    try:
        yield place
    finally:
        tempfile.tempdir = before
        subprocess.run(["umount", place], check=True)


@pytest.fixture(scope="module")
def sandbox(disk):
    with Sandbox(kind="landlock") as own:
        with define(own, FILL) as running:
            ask(running, "right")
        yield own


class Used:
    """Bytes on a disk, looked at every two milliseconds."""

    def __init__(self, disk):
        self._disk, self._stop, self.seen = disk, threading.Event(), []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._stop.set()
        self._thread.join()

    def _look(self):
        ended = False
        while not ended:
            ended = self._stop.wait(0.002)
            found = os.statvfs(self._disk)
            self.seen.append((time.monotonic(), (found.f_blocks - found.f_bfree) * found.f_frsize))

    def most(self):
        return max(size for _, size in self.seen)

    def seconds_above(self, size):
        above = [when for when, used in self.seen if used > size]
        return above[-1] - above[0] if above else 0


@pytest.mark.parametrize("how", ["plain", "removed", "mapped"])
def test_who_writes_too_much_is_ended_before_the_disk_is_full(sandbox, disk, how):
    with Used(disk) as used:
        for _ in range(5):
            with define(sandbox, FILL) as running, pytest.raises(Lost, match="it wrote more than 64 MB of files"):
                ask(running, "fill", how, seconds=10)
    assert used.most() < MOST
    assert used.seen[-1][1] < MIB


@pytest.mark.parametrize("how", ["plain", "removed"])
def test_soon_no_more_is_there_than_it_may_have(sandbox, disk, how):
    with define(sandbox, FILL) as running, Used(disk) as used, pytest.raises(Lost):
        ask(running, "fill", how, seconds=10)
    assert used.seconds_above(sandbox.limits.scratch) < SOON


@pytest.mark.parametrize("how", ["in a folder that nobody may list", "in a folder too deep to be named"])
def test_what_cannot_be_counted_is_ended(sandbox, disk, how):
    """With the right to look everywhere, which a Python of root's own takes, it can be counted."""
    ended = pytest.raises(Lost, match=r"it wrote more than 64 MB of files|it made a folder that cannot be looked into")
    with define(sandbox, FILL) as running, Used(disk) as used, ended:
        ask(running, "fill", how, seconds=10)
    assert used.most() < MOST


def test_no_blocks_without_writing_them(sandbox, disk):
    """By a call, and by what file systems have for it."""
    code = """
        import ctypes, errno, fcntl, os, struct
        libc = ctypes.CDLL(None, use_errno=True)
        def allocate():
            file = os.open("file", os.O_RDWR | os.O_CREAT)
            libc.fallocate(file, 1, ctypes.c_long(0), ctypes.c_long(1 << 30))
            found = [errno.errorcode[ctypes.get_errno()]]
            for request in (0x40305828, 0x4030582A, 0x40305839, 0x401C5820):
                try:
                    fcntl.ioctl(file, request, struct.pack("hhqqI16x", 0, 0, 0, 1 << 30, 0))
                    found.append("allowed")
                except OSError as error:
                    found.append(errno.errorcode[error.errno])
            return found, os.fstat(file).st_blocks
        def honest():
            import subprocess, sys
            return sys.stdout.isatty(), subprocess.run(["echo", "hello"], capture_output=True, text=True).stdout
    """
    with define(sandbox, code) as running:
        assert ask(running, "allocate") == ((["EPERM", *["ENOTTY"] * 4]), 0)
        assert ask(running, "honest") == (False, "hello\n")


def test_the_report_says_why(sandbox, course):
    marker = Marker(course.assignment("a1_scaled_dot_product"), sandbox)
    answers = model_answers(marker.assignment)
    full = "def softmax(x, axis=-1):\n    for n in range(200):\n        open(str(n), 'wb').write(bytes(2**20))\n"
    report, _ = marker.mark_cells("full", [*(answers | {"softmax": full}).values()])
    softmax, *others = report.exercises
    assert report.status == "graded"
    assert softmax.score == 0
    assert "it wrote more than 64 MB of files, so it was stopped." in softmax.tests[0].message
    assert all(one.score == one.max_score for one in others)


def test_the_cell_that_wrote_too_much_says_why(sandbox):
    code = "for n in range(200):\n    open(str(n), 'wb').write(bytes(2**20))"
    with sandbox.open(["def right(): return 1", code]) as running:
        assert running.results[1].stopped == "it wrote more than 64 MB of files"
        assert ask(running, "right") == 1
