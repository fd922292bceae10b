"""System calls for users, namespaces, mounts, capabilities and limits.

`cellcage.backends` decides which process makes them, and in which order.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from cellcage.limits import Limits

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 8, 36, 38
CLONE_PIDFD = 0x1000
KEYCTL_JOIN_SESSION_KEYRING = 1
CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1 << 0, 1 << 1, 1 << 2
CAP_KILL, CAP_SETGID, CAP_SETUID = 1 << 5, 1 << 6, 1 << 7
MADV_COLLAPSE, HUGE_PAGE = 25, 2 << 20
M_MMAP_THRESHOLD, LARGE_BLOCK = -3, 128 << 10  # where glibc begins, before it raises this to blocks that were freed
SIGNALS_PENDING = 64  # queued signals of a user; a notebook has none, and each timer takes one
CPU_GRACE = 5  # seconds of processor time between SIGXCPU and SIGKILL
KEYCTL = {"x86_64": 250, "aarch64": 219}  # numbers of system calls
CLONE = {"x86_64": 56, "aarch64": 220}
PIDFD_SEND_SIGNAL = 424
CAPABILITY_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
libc = ctypes.CDLL(None, use_errno=True)
holding = ctypes.PyDLL(None, use_errno=True)  # its calls keep Python's global lock, which a fork needs


def prctl(option: int, value: int) -> None:
    """Set an option of this process or thread."""
    libc.prctl(option, value, 0, 0, 0)


def checked(result: int, call: str) -> int:
    """The result of a system call. Raises `OSError` if it is negative; call: its name, for the error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")
    return result


def leave_root(user: int, keep: int = 0) -> None:
    """Become `user` if root started this: limits on processes do not bind root.

    keep: the capabilities that this process keeps, as bits; programs that it starts get none
    """
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        prctl(PR_SET_KEEPCAPS, int(keep != 0))
        os.setresuid(user, user, user)
        set_capabilities(keep)
        prctl(PR_SET_DUMPABLE, 1)  # so that its /proc/self files belong to that user, too


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


def memory_in_use() -> tuple[int, int]:
    """Bytes that this process uses now: private writable memory (RLIMIT_DATA), and address space (RLIMIT_AS)."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmData"].split()[0]) * 1024, int(fields["VmSize"].split()[0]) * 1024


def lower_memory(size: int) -> None:
    """Let this process have `size` bytes less than it may have now."""
    may, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if may != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (max(0, may - size), hard))


def give_freed_blocks_back() -> None:
    """Have the C library give each large block back to the kernel when it is freed.

    glibc keeps what it expects to need again, in pieces. The kernel counts that, so code that holds little at once
    would seem to hold a lot.
    """
    with contextlib.suppress(AttributeError):  # another C library than glibc
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def die_with_parent() -> None:
    """Have the kernel end this process when the process that forked it ends."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def prefer_for_oom_kill() -> None:
    """Have the kernel end this notebook's processes before the zygote if memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def fork_into_namespaces(own_user: bool = True) -> int:
    """Fork a process with its own users, mounts, processes, IPC, host name and network; otherwise as `os.fork`.

    It is the first process of its pid namespace: when it ends, the kernel ends all below it. This is one system call.
    Fork, unshare and another fork would take a second process of this size. Raises `OSError` if the kernel refuses.

    own_user: give it a user namespace, too, whose users may do nothing outside it; if false, the caller needs
        CAP_SYS_ADMIN
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
    except OSError as error:  # if this were raised, the child would go on as if it were the parent
        print(f"a user namespace: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    return 0


def hide(hidden: Sequence[str], read_only: Sequence[str]) -> None:
    """In a fork server's own namespaces: make each of `hidden` look empty, and each of `read_only` unwritable.

    The children of a notebooks' fork server have users of their own, for whom the kernel locks these mounts: no right
    that they could gain there would remove one.
    """
    for place in hidden:
        mount_empty(place)
    for place in read_only:
        _mount(None, place, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def use_as_temporary(folder: str) -> None:
    """Make a folder the place for temporary files, and the home folder."""
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder


def fork_with_descriptor() -> tuple[int, int]:
    """As `os.fork`, with a descriptor that can end the child even if no signal may be sent by number."""
    descriptor = ctypes.c_int(-1)
    return _clone(CLONE_PIDFD, ctypes.byref(descriptor)), descriptor.value


def end_by_descriptor(descriptor: int) -> None:
    """End the child of `fork_with_descriptor`."""
    libc.syscall(PIDFD_SEND_SIGNAL, descriptor, int(signal.SIGKILL), None, 0)
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
    return checked(pid, "clone")


def private_places(scratch: int) -> None:
    """Mount fresh scratch space and shared memory, which are gone with the namespace, and hide /proc.

    scratch: bytes
    """
    for place, size in (("/tmp", scratch), ("/dev/shm", scratch), ("/proc", 4096)):  # noqa: S108
        mount_empty(place, size, "1777")
    os.chdir("/tmp")  # noqa: S108


def mount_empty(place: str, size: int = 4096, mode: str = "0555") -> None:
    """Mount an empty folder of `size` bytes over a folder. The process needs its own mounts."""
    _mount("tmpfs", place, b"tmpfs", MS_NOSUID | MS_NODEV, f"size={size},mode={mode},nr_inodes=4096".encode())


def _mount(source: str | None, place: str, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    checked(libc.mount(source and source.encode(), place.encode(), kind, flags, options), f"mount {place}")


def drop_capabilities(kept: int = 0) -> None:
    """Give up the keyring, and all capabilities but `kept`, as bits: root's, or those of a new user namespace."""
    if os.uname().machine in KEYCTL:
        libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
    set_capabilities(kept)


def set_capabilities(bits: int) -> None:
    """Keep these capabilities of the ones that this process has, and hand down none. Raises `OSError`."""
    bits &= permitted_capabilities()
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    checked(libc.capset(header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)), "capset")


def permitted_capabilities() -> int:
    """The capabilities that this process may use, as bits."""
    header, data = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    return int(data[1]) | int(data[4]) << 32


def adopt_orphans() -> None:
    """Make orphans among this process's descendants its children, so that it can wait for them."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def forbid_inspection() -> None:
    """Keep other processes of the same user from reading the memory of this process and its forks."""
    prctl(PR_SET_DUMPABLE, 0)


def set_limits(limits: Limits, already: tuple[int, int], tasks: int) -> None:
    """Set the limits of this process.

    already: the memory that Python and PyTorch use, see `memory_in_use`; the limits come on top of it
    tasks: how many this user has; the limit on processes comes on top of them
    """
    data, space = already
    wanted = {
        resource.RLIMIT_DATA: data + int(limits.memory),
        # This counts shared mappings, too. Address space that is reserved and never used needs some room.
        resource.RLIMIT_AS: space + 2 * int(limits.memory),
        resource.RLIMIT_NPROC: int(limits.processes) + tasks,
        resource.RLIMIT_NOFILE: int(limits.open_files),
        resource.RLIMIT_FSIZE: int(limits.scratch),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.total_seconds) + 1,
        # The kernel counts these for a user, who may be yours: no message queues, no locked pages, and only
        # a few queued signals.
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_SIGPENDING: SIGNALS_PENDING,
    }
    for limit, value in wanted.items():
        _, lower = resource.getrlimit(limit)  # an administrator may allow less; it cannot be raised again
        value = value if lower == resource.RLIM_INFINITY else min(value, lower)
        # SIGXCPU tells a process that its time is used up. The kernel's SIGKILL would look like somebody else's.
        hard = value + CPU_GRACE if limit == resource.RLIMIT_CPU and lower == resource.RLIM_INFINITY else value
        resource.setrlimit(limit, (value, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
