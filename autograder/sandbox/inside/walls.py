"""The walls that the kernel keeps, as this room builds them: user, namespaces, places, rights, limits.

`server` says in which process, and in which order; `launch` builds the outer wall with bubblewrap.
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
from collections.abc import Mapping, Sequence
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND = 2, 4, 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
KEYCTL_JOIN_SESSION_KEYRING = 1
SYSCALLS = {"x86_64": (250, 126), "aarch64": (219, 91)}  # numbers of keyctl and capset
CLONE = {"x86_64": 56, "aarch64": 220}
PACKAGES = ("numpy", "torch")  # what is to be hidden lies in a folder with one of these
libc = ctypes.CDLL(None, use_errno=True)
holding = ctypes.PyDLL(None, use_errno=True)  # its calls keep Python's lock, which a fork needs
_hidden: list[str] = []
_put: dict[str, str] = {}


def _prctl(option: int, value: int) -> None:
    """Ask the kernel for something about this process; macOS, where there is no wall anyway, has no such question."""
    with contextlib.suppress(AttributeError):
        libc.prctl(option, value, 0, 0, 0)


def leave_root(isolated: bool) -> None:
    """Started by root, student code still runs as nobody: limits on processes do not bind root."""
    if isolated and os.getuid() == 0:
        nobody = 65534
        os.setgroups([])
        os.setresgid(nobody, nobody, nobody)
        os.setresuid(nobody, nobody, nobody)
        _prctl(PR_SET_DUMPABLE, 1)  # so that its /proc/self files belong to nobody, too


def held() -> dict[str, int]:
    """Bytes that this process holds: private writable memory (RLIMIT_DATA), address space (RLIMIT_AS)."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return {"data": int(fields["VmData"].split()[0]) * 1024, "space": int(fields["VmSize"].split()[0]) * 1024}


def die_with_parent() -> None:
    """The kernel ends this process with the one that forked it."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def first_to_go() -> None:
    """If memory runs out, the kernel ends this submission's processes before the warm one."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def fork_into_namespaces() -> int:
    """Fork a process with users, mounts, processes, IPC, host name and network of its own; as `os.fork` otherwise.

    It is the first of its pid namespace: when it ends, the kernel ends all below it. One system call in place of
    fork, unshare and fork again, which would take a second process of this size. Raises `OSError` if the kernel
    refuses.
    """
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | signal.SIGCHLD
    if os.uname().machine not in CLONE:
        raise OSError(f"the sandbox is not known to work on {os.uname().machine}")
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = int(holding.syscall(CLONE[os.uname().machine], ctypes.c_ulong(flags), None, None, None, None))
    if pid:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        if pid < 0:
            raise OSError(ctypes.get_errno(), "clone: " + os.strerror(ctypes.get_errno()))
        return pid
    ctypes.pythonapi.PyOS_AfterFork_Child()
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    return 0


def private_places(scratch: int) -> None:
    """Fresh, small, and gone with the namespace: scratch space, shared memory; and no view of /proc."""
    for place, size in (("/tmp", scratch), ("/dev/shm", scratch), ("/proc", 4096)):  # noqa: S108
        _mount(place, size, "1777")
    for place in _hidden:
        if os.path.isdir(place):
            _mount(place, 4096, "0555")
        else:
            _mount_file("/dev/null", place)
    for place, text in _put.items():
        # A copy of this submission's own: what it does to it, nobody else meets.
        with open("/tmp/copy", "w", encoding="utf-8") as file:  # noqa: S108
            file.write(text)
        _mount_file("/tmp/copy", place)  # noqa: S108
        os.unlink("/tmp/copy")  # noqa: S108
    os.chdir("/tmp")  # noqa: S108


def hide(patterns: Sequence[str]) -> None:
    """Places that `private_places` will hide: files and folders beside the installed libraries, by patterns.

    A new process finds no library that still has what was taken out of this one, which has loaded all that it needs.
    """
    packages = {os.path.dirname(os.path.dirname(m.__file__ or "")) for n in PACKAGES if (m := sys.modules.get(n))}
    for folder in packages:
        for pattern in patterns:
            _hidden.extend(sorted(glob.glob(os.path.join(glob.escape(folder), pattern))))


def put(files: Mapping[str, str]) -> None:
    """Texts that `private_places` will put in the place of files; what Python compiled of those is hidden."""
    _put.update(files)
    _hidden.extend(path for path in map(importlib.util.cache_from_source, files) if os.path.isfile(path))


def _mount_file(source: str, place: str) -> None:
    if libc.mount(source.encode(), place.encode(), None, MS_BIND, None):
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def _mount(place: str, size: int, mode: str) -> None:
    options = f"size={size},mode={mode},nr_inodes=4096".encode()
    if libc.mount(b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options):
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def drop_capabilities() -> None:
    """No right of the new user namespace is left to student code, and no keyring of the old one."""
    keyctl, capset = SYSCALLS.get(os.uname().machine, (None, None))
    if keyctl is not None:
        libc.syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        libc.syscall(capset, header, (ctypes.c_uint32 * 6)())


def keep_private() -> None:
    """Nobody of the same user reads this process's memory, nor those of what it forks."""
    _prctl(PR_SET_DUMPABLE, 0)


def no_new_privileges() -> None:
    """No program that is started from here gains a right by being started."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def set_limits(limits: dict[str, Any]) -> None:
    """Per-process limits. Memory counts on top of what Python and PyTorch hold already."""
    soft = {
        resource.RLIMIT_DATA: int(limits["held"]["data"] + limits["memory"]),
        # Shared mappings, too; address space that is reserved and never used needs some room.
        resource.RLIMIT_AS: int(limits["held"]["space"] + 2 * limits["memory"]),
        resource.RLIMIT_NPROC: int(limits["processes"]),
        resource.RLIMIT_NOFILE: int(limits["open_files"]),
        resource.RLIMIT_FSIZE: int(limits["scratch"]),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits["submission_seconds"]) + 1,
    }
    for limit, value in soft.items():
        _, lower = resource.getrlimit(limit)  # a machine's keeper may allow less; it cannot be raised again
        value = value if lower == resource.RLIM_INFINITY else min(value, lower)
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
