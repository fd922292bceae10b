"""What the kernel is asked for: user, namespaces, places, rights, limits.

`sandbox.backends` says in which process, and in which order.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import importlib.util
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox.limits import Limits

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER = 1, 4, 8, 36
CLONE_PIDFD = 0x1000
KEYCTL_JOIN_SESSION_KEYRING = 1
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1 << 1, 1 << 2
CAP_KILL, CAP_SETGID, CAP_SETUID = 1 << 5, 1 << 6, 1 << 7
MADV_COLLAPSE, HUGE_PAGE = 25, 2 << 20
SIGNALS_PENDING = 64  # that a user's processes have not taken yet; a notebook has none, and timers take one each
CPU_GRACE = 5  # seconds of processor time between SIGXCPU and SIGKILL
SYSCALLS = {"x86_64": (250, 126), "aarch64": (219, 91)}  # numbers of keyctl and capset
CLONE = {"x86_64": 56, "aarch64": 220}
SEND_BY_DESCRIPTOR = 424  # pidfd_send_signal
PACKAGES = ("numpy", "torch")  # what is to be hidden lies in a folder with one of these
libc = ctypes.CDLL(None, use_errno=True)
holding = ctypes.PyDLL(None, use_errno=True)  # its calls keep Python's lock, which a fork needs


@dataclass(frozen=True)
class Held:
    """Bytes that a process holds: private writable memory (RLIMIT_DATA), address space (RLIMIT_AS)."""

    data: int = 0
    space: int = 0


@dataclass(frozen=True)
class Removed:
    """Files of the installed libraries that have what was taken out of a process, which no new one may read.

    hidden: files and folders; emptied: by path, the text that stands in place of a file
    """

    hidden: tuple[str, ...] = ()
    emptied: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """All of them."""
        return [*self.hidden, *self.emptied]


def _prctl(option: int, value: int) -> None:
    """Ask the kernel for something about this process. macOS has no such call, and no sandbox."""
    with contextlib.suppress(AttributeError):
        libc.prctl(option, value, 0, 0, 0)


def leave_root(user: int, keep: int = 0) -> None:
    """Started by root, become `user`: limits on processes do not bind root.

    keep: the capabilities that this process keeps, as bits; programs that it starts have none
    """
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        _prctl(PR_SET_KEEPCAPS, int(keep != 0))
        os.setresuid(user, user, user)
        set_capabilities(keep)
        _prctl(PR_SET_DUMPABLE, 1)  # so that its /proc/self files belong to that user, too


def gather_pages() -> None:
    """Put this process's memory into huge pages, if the kernel can (Linux 6.1 and later).

    The table that every fork copies becomes three times shorter: 2.5 ms in place of 7 for a process with PyTorch.
    """
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps.readlines():
            span, access, _, _, inode = line.split()[:5]
            first, end = (int(address, 16) for address in span.split("-"))
            if access == "rw-p" and inode == "0" and end - first >= HUGE_PAGE:
                libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_COLLAPSE)


def held() -> Held:
    """What this process holds now."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return Held(int(fields["VmData"].split()[0]) * 1024, int(fields["VmSize"].split()[0]) * 1024)


def die_with_parent() -> None:
    """The kernel ends this process with the one that forked it."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def first_to_go() -> None:
    """If memory runs out, the kernel ends this submission's processes before the warm one."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def fork_into_namespaces(own_user: bool = True) -> int:
    """Fork a process with users, mounts, processes, IPC, host name and network of its own; as `os.fork` otherwise.

    It is the first of its pid namespace: when it ends, the kernel ends all below it. One system call in place of
    fork, unshare and fork again, which would take a second process of this size. Raises `OSError` if the kernel
    refuses.

    own_user: users of its own, too, who may do nothing outside it; without, the caller needs CAP_SYS_ADMIN
    """
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET
    if pid := _clone(flags | (CLONE_NEWUSER if own_user else 0)):
        return pid
    if not own_user:
        return 0
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError as error:  # raised here, it would go on in the child as if it were the parent
        print(f"a user namespace: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    return 0


def narrow(hidden: Sequence[str], read_only: Sequence[str]) -> None:
    """In a fork server's own namespaces: each of `hidden` looks empty, and `read_only` cannot be written.

    What a fork server of notebooks forks has users of its own, for whom the kernel locks these in place: no right that
    they could gain there would take one away.
    """
    for place in hidden:
        cover(place)
    for place in read_only:
        flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
        if libc.mount(None, place.encode(), None, flags, None):
            raise OSError(ctypes.get_errno(), f"remount {place}: {os.strerror(ctypes.get_errno())}")


def own_folder(place: str, size: int) -> None:
    """An empty folder of so many bytes, which nobody else sees; for a process with mounts of its own."""
    os.makedirs(place, exist_ok=True)
    _mount(place, size, "0755")


def write_in(folder: str) -> None:
    """What is written without a name of its own goes there, and what is looked for at home."""
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder


def cover(place: str) -> None:
    """Nothing is seen of what is in a folder; for a process with mounts of its own."""
    _mount(place, 4096, "0555")


def fork_with_descriptor() -> tuple[int, int]:
    """As `os.fork`, with a descriptor that can end the child where no signal may be sent by number."""
    descriptor = ctypes.c_int(-1)
    return _clone(CLONE_PIDFD, ctypes.byref(descriptor)), descriptor.value


def end_by_descriptor(descriptor: int) -> None:
    """End the child of `fork_with_descriptor`."""
    libc.syscall(SEND_BY_DESCRIPTOR, descriptor, int(signal.SIGKILL), None, 0)
    os.close(descriptor)


def _clone(flags: int, descriptor: Any = None) -> int:
    if os.uname().machine not in CLONE:
        raise OSError(f"the sandbox is not known to work on {os.uname().machine}")
    ctypes.pythonapi.PyOS_BeforeFork()
    number, whole = CLONE[os.uname().machine], ctypes.c_ulong(flags | signal.SIGCHLD)
    pid = int(holding.syscall(number, whole, None, descriptor, None, None))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone: " + os.strerror(ctypes.get_errno()))
    return pid


def private_places(scratch: int, removed: Removed) -> None:
    """Fresh, small, and gone with the namespace: scratch space, shared memory; and no view of /proc.

    scratch: bytes; removed: what is covered, or has another text
    """
    for place, size in (("/tmp", scratch), ("/dev/shm", scratch), ("/proc", 4096)):  # noqa: S108
        _mount(place, size, "1777")
    for place in removed.hidden:
        if os.path.isdir(place):
            _mount(place, 4096, "0555")
        else:
            _mount_file("/dev/null", place)
    for place, text in removed.emptied.items():
        # A copy of this submission's own: what it does to it, nobody else meets.
        with open("/tmp/copy", "w", encoding="utf-8") as file:  # noqa: S108
            file.write(text)
        _mount_file("/tmp/copy", place)  # noqa: S108
        os.unlink("/tmp/copy")  # noqa: S108
    os.chdir("/tmp")  # noqa: S108


def removed(patterns: Sequence[str], emptied: Mapping[str, str]) -> Removed:
    """What is removed: files and folders beside the installed libraries, by patterns, and files that were emptied.

    What Python compiled of the emptied ones is hidden. A process that has loaded all it needs does without them.
    """
    packages = {os.path.dirname(os.path.dirname(m.__file__ or "")) for n in PACKAGES if (m := sys.modules.get(n))}
    compiled = [path for path in map(importlib.util.cache_from_source, emptied) if os.path.isfile(path)]
    found = [
        place
        for folder in packages
        for pattern in patterns
        for place in sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
    ]
    return Removed((*compiled, *found), emptied)


def _mount_file(source: str, place: str) -> None:
    if libc.mount(source.encode(), place.encode(), None, MS_BIND, None):
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def _mount(place: str, size: int, mode: str) -> None:
    options = f"size={size},mode={mode},nr_inodes=4096".encode()
    if libc.mount(b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options):
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def drop_capabilities(kept: int = 0) -> None:
    """No right but `kept`, as bits, is left, be it root's or that of a new user namespace, and no keyring."""
    keyctl, _ = SYSCALLS.get(os.uname().machine, (None, None))
    if keyctl is not None:
        libc.syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)
    set_capabilities(kept)


def set_capabilities(bits: int) -> None:
    """Have these capabilities, as far as this process has them, and no others; hand down none. Raises `OSError`."""
    _, capset = SYSCALLS.get(os.uname().machine, (None, None))
    if capset is not None:
        bits &= permitted_capabilities()
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        low, high = bits & 0xFFFFFFFF, bits >> 32
        if libc.syscall(capset, header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)):
            raise OSError(ctypes.get_errno(), "capset: " + os.strerror(ctypes.get_errno()))


def permitted_capabilities() -> int:
    """The capabilities that this process may use, as bits."""
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    return int(data[1]) | int(data[4]) << 32


def adopt_orphans() -> None:
    """What this process's descendants leave behind becomes its child, to be waited for."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def keep_private() -> None:
    """Nobody of the same user reads this process's memory, nor those of what it forks."""
    _prctl(PR_SET_DUMPABLE, 0)


def set_limits(limits: Limits, already: Held, tasks: int) -> None:
    """Per-process limits.

    already: what Python and PyTorch hold, which memory counts on top of; tasks: of this user, likewise
    """
    wanted = {
        resource.RLIMIT_DATA: already.data + int(limits.memory),
        # Shared mappings, too; address space that is reserved and never used needs some room.
        resource.RLIMIT_AS: already.space + 2 * int(limits.memory),
        resource.RLIMIT_NPROC: int(limits.processes) + tasks,
        resource.RLIMIT_NOFILE: int(limits.open_files),
        resource.RLIMIT_FSIZE: int(limits.scratch),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.submission_seconds) + 1,
        # What the kernel counts for a user, who may be the grader's own: no queues, no pages that stay in memory, and
        # of signals that wait no more than a few.
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_SIGPENDING: SIGNALS_PENDING,
    }
    for limit, value in wanted.items():
        _, lower = resource.getrlimit(limit)  # a machine's keeper may allow less; it cannot be raised again
        value = value if lower == resource.RLIM_INFINITY else min(value, lower)
        # Who uses up the processor is told so by SIGXCPU. The kernel's SIGKILL would look like somebody else's.
        hard = value + CPU_GRACE if limit == resource.RLIMIT_CPU and lower == resource.RLIM_INFINITY else value
        resource.setrlimit(limit, (value, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def most_open_files() -> int:
    """As many open files as this machine allows. By this limit the kernel also counts a user's descriptors in flight.

    For judges, who send some to notebooks: whatever a user's other processes hold in flight, theirs are to go through.
    """
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]
