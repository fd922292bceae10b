"""Without a mount of its own, a notebook still can't fill the disk, and code that tries gets a clear message."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from sandboxes import Sandbox

from cellcage.linux import landlock_rules
from cellcage.notebook import CallFailed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not landlock_rules.abi(), reason="this kernel has no Landlock"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a disk to measure"),
]
MIB = 2**20
MOST = 1024 * MIB  # peak on a busy machine; 256 MiB on an idle one
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
def many():
    for number in range(20_000):
        open(str(number), "w").close()
    time.sleep(5)
def right(): return 1
"""
WAYS = ["plain", "removed", "mapped", "in a folder that nobody may list", "in a folder too deep to be named"]


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A disk of 4 GB only for scratch."""
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
    with Sandbox("landlock") as own:
        with own.open():
            pass
        yield own


class Used:
    """The peak use of a disk during a `with` block, measured every two milliseconds."""

    def __init__(self, disk):
        self._disk, self._stop, self.most = disk, threading.Event(), 0
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._stop.set()
        self._thread.join()

    def now(self):
        found = os.statvfs(self._disk)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def _look(self):
        while not self._stop.wait(0.002):
            self.most = max(self.most, self.now())


@pytest.mark.parametrize("how", [WAYS[0], *(pytest.param(way, marks=pytest.mark.catalogue) for way in WAYS[1:])])
def test_writing_too_much_is_ended_before_the_disk_is_full(sandbox, disk, how):
    """Even if the written files can't be counted."""
    ended = pytest.raises(CallFailed, match=r"it wrote more than 64 MB of files|it made a folder that cannot be looked")
    with Used(disk) as used:
        with sandbox.open(FILL, call_seconds=10) as notebook, ended:
            notebook.call("fill", how)
        until = time.monotonic() + 2
        while used.now() > MIB:
            assert time.monotonic() < until
            time.sleep(0.01)
    assert used.most < MOST


def test_creating_too_many_files_is_ended(sandbox):
    with sandbox.open(FILL) as notebook, pytest.raises(CallFailed, match="more than 4096 files"):
        notebook.call("many")


def test_disk_space_cannot_be_allocated_without_writing(sandbox):
    """Neither with fallocate nor with the ioctls of file systems."""
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
    """
    with sandbox.open(code) as notebook:
        assert notebook.call("allocate") == (["EPERM", *["ENOTTY"] * 4], 0)


def test_cell_that_writes_too_much_reports_why(sandbox):
    code = "for n in range(200):\n    open(str(n), 'wb').write(bytes(2**20))"
    with sandbox.open("def right(): return 1", code) as notebook:
        assert notebook.results[1].stopped == "it wrote more than 64 MB of files"
        assert notebook.call("right") == 1


def test_scratch_with_odd_files_is_removed(sandbox):
    code = """
        import os
        os.makedirs("a/b/c")
        open(b"\\xff\\n", "w").close()
        os.symlink("/usr", "link")
        os.mkfifo("pipe")
        for _ in range(40):  # the path is too long for any system call
            os.mkdir("deep" * 50)
            os.chdir("deep" * 50)
        os.mkdir("closed", 0)
        open("file", "w").close()
    """
    with sandbox.open(code) as notebook:
        assert notebook.results[0].error == ""
    assert list(Path(sandbox.zygote._scratch.name).glob("*/*")) == []
