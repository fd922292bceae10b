"""System calls that untrusted code is refused: NumPy, PyTorch and a notebook never need them, and an attacker might.

These are tracing and reading other processes, keyrings, new namespaces and mounts, kernel interfaces with a history of
faults (bpf, io_uring, userfaultfd), memory that no limit on processes counts (memfd, System V), and all socket families
but the ordinary ones: a virtual machine's AF_VSOCK belongs to no network namespace and would reach the host.

Notebooks could pass messages through state that they share: which pages of a library are in memory (`preadv2` with
RWF_NOWAIT, `mincore`, `cachestat`), who has locked, leased or opened a file (locks, leases, inotify), a write hint of a
file. So untrusted code can neither read nor set any of it. The kernel counts descriptors in flight between processes by
user (unix(7)). A trusted process sends some, so untrusted code may send none.

Without namespaces (Landlock is the whole sandbox) more is refused: every socket but a pair, calls that change a file
without opening it, leaving the process group by which a notebook is ended, and calls that reach other processes of
the same user.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cellcage.linux.system_calls import PR_SET_DUMPABLE, PR_SET_PDEATHSIG, checked, libc

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
REFUSE = ERRNO | errno.EPERM
LOAD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # classic BPF
FilterLine = tuple[int, int, int, int]
CallNumbers = tuple[int | None, int | None]  # of a call: on x86_64, on aarch64 (None: no such call)
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian
X32 = 0x40000000  # the second numbering of calls on x86_64
NEW_NAMESPACES = 0x7E020080  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
AF_UNIX = 1
FAMILIES = (AF_UNIX, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: inside a network namespace with no interface

REFUSED: dict[str, CallNumbers] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "fanotify_init": (300, 262), "vmsplice": (278, 75),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "quotactl": (179, 60), "personality": (135, 92),
    "syslog": (103, 116), "mbind": (237, 235), "set_mempolicy": (238, 237), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "mincore": (27, 232), "cachestat": (451, 451), "flock": (73, 32),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "mq_unlink": (241, 181),
}  # fmt: skip
# A trusted process sends a socket to the notebook's process; untrusted code sends no descriptors.
SENDING: dict[str, CallNumbers] = {"sendmsg": (46, 211), "sendmmsg": (307, 269)}
# If Landlock cannot restrict signals, none may be sent. A call process is ended by a descriptor.
SIGNALS: dict[str, CallNumbers] = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
SCHEDULING: dict[str, CallNumbers] = {
    "sched_setaffinity": (203, 122), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
}  # fmt: skip
# Refused to trusted processes, and without namespaces to all.
REACHING_OUT: dict[str, CallNumbers] = {
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "truncate": (76, 45),
    "setpgid": (109, 154), "setpriority": (141, 140), "ioprio_set": (251, 30),
}  # fmt: skip
# A process that only computes and talks on the sockets it has needs none of these.
ALONE: dict[str, CallNumbers] = {
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "mkdir": (83, None), "mkdirat": (258, 34), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "symlinkat": (266, 36), "linkat": (265, 37), "ftruncate": (77, 46),
    **SIGNALS, **SCHEDULING, **REACHING_OUT,
}  # fmt: skip
# Without namespaces these would reach the rest of the machine, and Landlock does not cover them.
UNCONTAINED: dict[str, CallNumbers] = {
    "accept": (43, 202), "accept4": (288, 242), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "fallocate": (285, 47), "shmat": (30, 196), "shmctl": (31, 195), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "setsid": (112, 157),
    **REACHING_OUT,
}  # fmt: skip
# A process may set these for itself, but not for others. The first argument is the process; 0 is the caller.
OWN_ALONE = {"prlimit": (302, 261), **SCHEDULING}
# A process can end another by setting its limits, or by making a socket send it a signal.
FCNTL, IOCTL = (72, 25), (16, 29)
SECOND_ARGUMENT, THIRD_ARGUMENT, SIXTH_ARGUMENT = 24, 32, 56
OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
OWNERS_BY_IOCTL = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
# F_GETLK, F_SETLK, F_SETLKW; F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW; F_SETLEASE, F_GETLEASE, F_NOTIFY; and for the
# lifetime of writes F_GET_RW_HINT, F_SET_RW_HINT, F_GET_FILE_RW_HINT, F_SET_FILE_RW_HINT. All share /dev/null, too.
SHARED_BY_FCNTL = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026, 1035, 1036, 1037, 1038)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: those that Python uses. With others, of file systems, a file
# takes gigabytes at once (FS_IOC_RESVSP, FS_IOC_FSSETXATTR).
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
RWF_NOWAIT = 8
PREADV2, PWRITEV2 = (327, 286), (328, 287)
# Calls other than `kill` that send a signal, each with the offset of the signal's number.
SENT_BY = {"tkill": SECOND_ARGUMENT, "tgkill": THIRD_ARGUMENT, "rt_sigqueueinfo": SECOND_ARGUMENT,
           "rt_tgsigqueueinfo": THIRD_ARGUMENT}  # fmt: skip
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the table, audit architecture
CLONE, CLONE3, SOCKETPAIR, PRCTL = (56, 220), (435, 435), (53, 199), (157, 167)
# Bits of a socket's type: only stream (1) and seqpacket (5) cannot send to an address.
NOT_OF_A_PAIR, CONNECTED = 0xFA, 1


@dataclass(frozen=True)
class Filter:
    """The system calls that a process may not make.

    refused: calls, whatever their arguments
    others: also setting the limits, scheduling and signals of another process, by calls that are otherwise allowed
    ioctls: lines for `ioctl`, about its second argument
    without_namespaces: also every socket but a pair, and hiding from the fork server that watches
    """

    refused: Mapping[str, CallNumbers]
    others: bool = False
    ioctls: tuple[FilterLine, ...] = ()
    without_namespaces: bool = False


def without_namespaces(within: Filter, scopes_signals: bool) -> Filter:
    """What `UNTRUSTED` or `TRUSTED` refuses, and what namespaces would have contained.

    scopes_signals: whether Landlock keeps signals from leaving the sandbox
    """
    calls = {**within.refused, **UNCONTAINED}
    if not scopes_signals:
        calls |= SIGNALS
        del calls["pidfd_send_signal"]
    ioctls = within.ioctls or (*_each(IOCTLS, ALLOW), (RETURN, 0, 0, ERRNO | errno.ENOTTY))
    return Filter(calls, others=True, ioctls=ioctls, without_namespaces=True)


def apply(filter_: Filter) -> None:
    """Refuse these system calls to this process and all that it starts, for good.

    Raises `OSError` if the kernel does not accept the filter. Does nothing on processors that are not in `MACHINES`.
    """
    if os.uname().machine in MACHINES:
        _install(program(*MACHINES[os.uname().machine], filter_))


def keep_from_ending_itself() -> None:
    """From now on neither this process nor what it starts can send SIGKILL or SIGTERM to this process.

    If one of these still ends it, it came from outside, and is not that code's fault (`protocol.ending`). Raises
    `OSError`.
    """
    if os.uname().machine not in MACHINES:
        return
    column, architecture = MACHINES[os.uname().machine]
    # -1 means all but the caller, and so group 1 cannot be named by its number.
    own = {os.getpid(), 0, -os.getpgrp()} - {-1}
    targets = [(LOAD, 0, 0, FIRST_ARGUMENT), *_each((pid & 0xFFFFFFFF for pid in own), REFUSE), (RETURN, 0, 0, ALLOW)]
    lines = _beginning(architecture)
    lines += _only_for(SIGNALS["kill"][column], SECOND_ARGUMENT, [*_unless_it_ends(), *targets])
    for name, argument in SENT_BY.items():
        lines += _only_for(SIGNALS[name][column], argument, [*_unless_it_ends(), (RETURN, 0, 0, REFUSE)])
    _install(_packed([*lines, (RETURN, 0, 0, ALLOW)]))


def _unless_it_ends() -> list[FilterLine]:
    """Allow all signals but the two that end a process from outside; for those the next lines decide."""
    return [(JUMP_EQUAL, 2, 0, signal.SIGKILL), (JUMP_EQUAL, 1, 0, signal.SIGTERM), (RETURN, 0, 0, ALLOW)]


def _install(program: bytes) -> None:
    code = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(filter_), 0, 0), "seccomp")


def program(column: int, architecture: int, filter_: Filter) -> bytes:
    """The filter for a processor (see `MACHINES`), in the kernel's form."""
    lines = [*_beginning(architecture), *_if(JUMP_ABOVE, X32, REFUSE)]
    for numbers in filter_.refused.values():
        if numbers[column] is not None:
            lines += _if(JUMP_EQUAL, numbers[column] or 0, REFUSE)
    for numbers in OWN_ALONE.values() if filter_.others else ():
        lines += _only_for(numbers[column], FIRST_ARGUMENT, [*_if(JUMP_EQUAL, 0, ALLOW), (RETURN, 0, 0, REFUSE)])
    by_fcntl = (*SHARED_BY_FCNTL, *(OWNERS if filter_.others else ()))
    lines += _only_for(FCNTL[column], SECOND_ARGUMENT, [*_each(by_fcntl, REFUSE), (RETURN, 0, 0, ALLOW)])
    if filter_.ioctls:
        lines += _only_for(IOCTL[column], SECOND_ARGUMENT, list(filter_.ioctls))
    for call in (PREADV2, PWRITEV2):
        lines += _only_for(call[column], SIXTH_ARGUMENT, [*_if(JUMP_BITS, RWF_NOWAIT, REFUSE), (RETURN, 0, 0, ALLOW)])
    if filter_.without_namespaces:
        kind = [*_if(JUMP_BITS, NOT_OF_A_PAIR, REFUSE), *_if(JUMP_BITS, CONNECTED, ALLOW), (RETURN, 0, 0, REFUSE)]
        pair = [(JUMP_EQUAL, 1, 0, AF_UNIX), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, SECOND_ARGUMENT), *kind]
        lines += _only_for(SOCKETPAIR[column], FIRST_ARGUMENT, pair)
    # Its flags are behind a pointer, where no filter can look. The C library then falls back to clone.
    lines += _if(JUMP_EQUAL, CLONE3[column], ERRNO | errno.ENOSYS)
    lines += _only_for(CLONE[column], FIRST_ARGUMENT, [*_if(JUMP_BITS, NEW_NAMESPACES, REFUSE), (RETURN, 0, 0, ALLOW)])
    lines += _only_for(PRCTL[column], FIRST_ARGUMENT, _for_prctl(filter_))
    families = [*_each(FAMILIES, ALLOW), (RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT)]
    lines += _only_for(REACHING_OUT["socket"][column], FIRST_ARGUMENT, families)
    return _packed([*lines, (RETURN, 0, 0, ALLOW)])


def _beginning(architecture: int) -> list[FilterLine]:
    """Lines that kill a process that uses another processor's call numbers, and load the call's number."""
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]


def _packed(lines: list[FilterLine]) -> bytes:
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _each(values: Iterable[int], then: int) -> list[FilterLine]:
    return [line for value in values for line in _if(JUMP_EQUAL, value, then)]


def _for_prctl(filter_: Filter) -> list[FilterLine]:
    """As the signal for its parent's end a process may set SIGKILL only; and it may not hide from the fork server."""
    killed = [(LOAD, 0, 0, SECOND_ARGUMENT), *_if(JUMP_EQUAL, signal.SIGKILL, ALLOW), (RETURN, 0, 0, REFUSE)]
    hides = _if(JUMP_EQUAL, PR_SET_DUMPABLE, REFUSE) if filter_.without_namespaces else []
    return [*hides, (JUMP_EQUAL, 1, 0, PR_SET_PDEATHSIG), (RETURN, 0, 0, ALLOW), *killed]


def _only_for(number: int | None, argument: int, then: list[FilterLine]) -> list[FilterLine]:
    """Lines that decide about one call by one of its arguments."""
    assert number is not None
    return [(JUMP_EQUAL, 0, 1 + len(then), number), (LOAD, 0, 0, argument), *then]


def _if(jump: int, value: int, then: int) -> list[FilterLine]:
    return [(jump, 0, 1, value), (RETURN, 0, 0, then)]


# In namespaces, or without a sandbox: untrusted code sends no descriptors, and trusted processes start no process.
UNTRUSTED = Filter({**REFUSED, **SENDING})
TRUSTED = Filter({**REFUSED, **ALONE}, others=True, ioctls=(*_each(OWNERS_BY_IOCTL, REFUSE), (RETURN, 0, 0, ALLOW)))
