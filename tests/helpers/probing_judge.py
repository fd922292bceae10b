"""A compromised judge: it tries what the order names and sends the result."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import stat
import subprocess
import threading
from typing import Any

from cellcage.protocol import frames

libc = ctypes.CDLL(None, use_errno=True)
LEFT = "left-by-a-judge"


MOUNTS = set[str]()


class Judge:
    def warm_up(self, setting: dict[str, Any]) -> None:
        """Note the mount points, which the fork server can still see."""
        with open("/proc/self/mounts") as mounts:
            MOUNTS.update(line.split()[1] for line in mounts)

    def prepare(self, preparation: Any) -> None: ...

    def serve(self, sock: socket.socket, limits: Any, sandbox: Any) -> None:
        order = frames.receive(sock)
        try:
            got = TRIES[order["what"]](sock, *order["args"])
        except BaseException as error:
            got = type(error).__name__
        frames.send(sock, {"got": got})


def system_call(number: int, *args: Any) -> str:
    """Make a system call by its number on x86_64; raises `OSError` if it is refused."""
    if os.uname().machine != "x86_64":
        raise PermissionError
    if libc.syscall(number, *args) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return "done"


def thread(sock):
    threading.Thread(target=print).start()
    return "started"


def fork(sock):
    if os.fork() == 0:
        os._exit(0)
    return "forked"


def vfork(sock):
    # By number, because Python code cannot return from vfork. These are the flags of fork.
    if libc.syscall(56, signal.SIGCHLD, None, None, None, None) == 0:
        os._exit(0)
    raise OSError(ctypes.get_errno(), "refused")


def limit_a_colleague(sock):
    """Try to limit another judge, which has the same user."""
    for pid in range(2, 100):
        if pid not in (os.getpid(), os.getppid()):
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))
                return "limited"
    return "alone"


def own_by_fcntl(sock):
    fcntl.fcntl(sock, fcntl.F_SETOWN, os.getppid())
    return "owned"


def of_the_host(name, flags):
    def attempt(sock):
        os.close(os.open(f"/proc/{os.getppid()}/{name}", flags))
        return "opened"

    return attempt


def places():
    found = {"/", "/tmp", os.environ["TMPDIR"], "/dev", "/dev/shm", "/dev/mqueue", "/cage", "/var/tmp", "/run"}
    return sorted(place for place in found | MOUNTS | {os.path.dirname(__file__)} if os.path.isdir(place))


def write_everywhere(sock):
    written = []
    for place in places():
        try:
            with open(os.path.join(place, LEFT), "w") as file:
                file.write("x")
            written.append(place)
        except OSError:
            pass
    return written


def find(sock):
    return [place for place in places() if os.path.exists(os.path.join(place, LEFT))]


def read(sock, path):
    if os.path.isdir(path):
        os.listdir(path)
    else:
        with open(path, "rb") as file:
            file.read()
    return "read"


def rights(sock):
    header, held = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    system_call(125, header, held)
    return held[0] | held[1] | held[2] | held[3] | held[4] | held[5]


def sockets(sock):
    found = 0
    for number in range(256):
        with contextlib.suppress(OSError):
            found += stat.S_ISSOCK(os.fstat(number).st_mode)
    return found


TRIES = {
    "alive": lambda sock: "yes",
    "fork": fork,
    "vfork": vfork,
    "start_a_thread": thread,
    "run_a_program": lambda sock: subprocess.run(["/usr/bin/true"]).returncode,
    "socket_of_unix": lambda sock: socket.socket(socket.AF_UNIX).fileno(),
    "socket_of_internet": lambda sock: socket.socket(socket.AF_INET).fileno(),
    "socket_of_packets": lambda sock: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno(),
    "exec": lambda sock: os.execv("/usr/bin/true", ["true"]),
    "memfd": lambda sock: os.memfd_create("x"),
    "namespaces": lambda sock: system_call(272, 0x10000000),
    "mount": lambda sock: system_call(165, b"tmpfs", b"/tmp", b"tmpfs", 0, None),
    "trace": lambda sock: system_call(101, 16, os.getppid(), None, None),
    "open_process": lambda sock: os.pidfd_open(os.getppid()),
    "shared_memory_of_system_v": lambda sock: system_call(29, 1, 4096, 0o1666),
    "kill": lambda sock: os.kill(os.getppid(), signal.SIGKILL),
    "kill_by_thread": lambda sock: system_call(234, os.getppid(), os.getppid(), signal.SIGKILL),
    "queue_a_signal": lambda sock: system_call(129, os.getppid(), signal.SIGKILL, bytes(128)),
    "limit_a_colleague": limit_a_colleague,
    "own_by_fcntl": own_by_fcntl,
    "slow_another": lambda sock: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "read_the_host": of_the_host("mem", os.O_RDONLY),
    "environment_of_the_host": of_the_host("environ", os.O_RDONLY),
    "write_everywhere": write_everywhere,
    "read": read,
    "processes": lambda sock: os.listdir("/proc"),
    "environment": lambda sock: sorted(os.environ),
    "rights": rights,
    "user": lambda sock: os.getuid(),
    "sockets": sockets,
    "leave": write_everywhere,
    "find": find,
    "end_itself": lambda sock: os.abort(),
}
