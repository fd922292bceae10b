"""The warm process: Python with NumPy, PyTorch and IPython. It forks the hosts of a run, so these are imported once.

It knows no suite and no submission, and runs nobody's code. Behind a wall it is the one that sees all that any host
may see, so each host is forked into namespaces of its own and loses what is not for it before it does anything.

    warm      its control socket brings "host" with the descriptors below, and "end"
     ├ host   of the judges (see `inside.host`)
     └ host   of notebooks, one for each desk; the course is hidden from it
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from autograder.sandbox.inside import walls
from autograder.sandbox.protocol import frames
from autograder.sandbox.wall import BUBBLEWRAP, LANDLOCK

STOP_SECONDS = 4.0  # for a host to end what it has forked


def main(descriptor: int, wall: str, modules: Sequence[str]) -> None:
    """Serve the control socket on `descriptor` until its other end closes. wall: see `Wall.kind`."""
    control = socket.socket(fileno=descriptor)
    if wall == LANDLOCK:
        # Nothing but a host ends what its guests have started. It is told at a good moment, between two messages.
        signal.signal(signal.SIGTERM, lambda *_: control.shutdown(socket.SHUT_RDWR))
    gc.disable()  # what is imported stays: nothing to collect, and a fifth of the time
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # submissions run side by side, and small tensors lose by threads that wait
        torch.ones(1, requires_grad=True).sum().backward()  # sets up autograd, and looks at the processor in /proc
    gc.collect()
    gc.freeze()
    gc.enable()
    walls.gather_pages()
    hosts: dict[int, int] = {}
    try:
        while True:
            try:
                message, descriptors = frames.receive_with_descriptors(control)
            except frames.Closed:
                break
            if message["op"] == "host":
                hosts[message["id"]] = _fork(control, message, descriptors, wall == BUBBLEWRAP)
                for one in descriptors:
                    os.close(one)
            elif message["op"] == "end":
                _end(hosts.pop(message["id"], 0), wall)
    finally:
        for pid in hosts.values():
            _end(pid, wall)
        if wall != BUBBLEWRAP:  # a folder made for this process, also if whoever made it was killed
            shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)


def _fork(control: socket.socket, message: dict[str, Any], descriptors: list[int], in_namespaces: bool) -> int:
    """Fork a host. Its control socket is the first of `descriptors`; the others are files of its control group."""
    pid = walls.fork_into_namespaces(own_user=os.getuid() != 0) if in_namespaces else os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        control.close()
        walls.die_with_parent()
        for file in descriptors[1:]:
            os.write(file, b"0")  # itself: nothing that it forks was ever outside
            os.close(file)
        if scratch := message["around"]["scratch"]:
            os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = scratch
        if in_namespaces:
            walls.narrow(message["hidden"], message["read_only"])
        if message["kit"]:
            _begin_anew(message["kit"])
        host = importlib.import_module("autograder.sandbox.inside.host")
        host.main(descriptors[0], message["around"], message["guest"], message["setting"])
    except BaseException as error:
        with contextlib.suppress(BaseException):
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def _begin_anew(path: str) -> None:
    """The whole kit in place of the sandbox's part of it, which is all that the warm process has."""
    sys.path.insert(0, path)
    for name in [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]:
        del sys.modules[name]


def _end(pid: int, wall: str) -> None:
    """End a host, and with it all that it has forked: by its namespace, or by itself where it has none."""
    if not pid:
        return
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if wall == LANDLOCK:
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + STOP_SECONDS
            while time.monotonic() < until:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
