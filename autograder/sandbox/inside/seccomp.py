"""System calls that student code is refused: what NumPy, PyTorch and a notebook never need, and an attacker might.

Tracing and reading other processes, keyrings, new namespaces and mounts, kernel interfaces with a history of faults
(bpf, io_uring, userfaultfd), memory that no limit on processes counts (memfd, System V), and every family of sockets
but the ordinary ones: a virtual machine's AF_VSOCK belongs to no network namespace and would reach the host.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import sys

from autograder.sandbox.inside.walls import PR_SET_PDEATHSIG

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # classic BPF
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian
X32 = 0x40000000  # the second numbering of calls on x86_64
NEW_NAMESPACES = 0x7E020080  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: inside a network namespace with no interface

# name: number on x86_64, on aarch64 (None: not there)
REFUSED: dict[str, tuple[int, int | None]] = {
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
    "move_pages": (279, 239),
}  # fmt: skip
# What a process that only computes and talks on the sockets it has needs none of.
ALONE: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "socket": (41, 198), "connect": (42, 203),
    "bind": (49, 200), "listen": (50, 201), "mkdir": (83, None), "mkdirat": (258, 34), "unlink": (87, None),
    "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "symlinkat": (266, 36), "linkat": (265, 37), "truncate": (76, 45), "ftruncate": (77, 46),
    "setpriority": (140, 140), "sched_setaffinity": (203, 122), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "ioprio_set": (251, 30), "setpgid": (109, 154),
}  # fmt: skip
# Limits of another process end it, and so does a signal that a socket of ours is told to send it.
PRLIMIT, FCNTL, IOCTL = (302, 261), (72, 25), (16, 29)
SECOND_ARGUMENT = 24
OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
OWNERS_BY_IOCTL = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the table, audit architecture
CLONE, CLONE3, SOCKET, PRCTL = (56, 220), (435, 435), (41, 198), (157, 167)


def apply(*, alone: bool = False) -> None:
    """Refuse the calls above to this process and all that it starts, for good.

    With `alone`, also whatever starts, signals or reaches for another process, and sockets but those it has.

    Raises `OSError` if the kernel does not take the filter. Does nothing on other processors than those two.
    """
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        return
    program = _program(*MACHINES[os.uname().machine], alone)
    code = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(filter_), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp: " + os.strerror(ctypes.get_errno()))


def _program(column: int, architecture: int, alone: bool) -> bytes:
    refuse = ERRNO | errno.EPERM
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
        *_if(JUMP_ABOVE, X32, refuse),
    ]
    for numbers in [*REFUSED.values(), *(ALONE.values() if alone else ())]:
        if numbers[column] is not None:
            lines += _if(JUMP_EQUAL, numbers[column] or 0, refuse)
    if alone:
        lines += _only_for(PRLIMIT[column], FIRST_ARGUMENT, [*_if(JUMP_EQUAL, 0, ALLOW), (RETURN, 0, 0, refuse)])
        for call, words in ((FCNTL, OWNERS), (IOCTL, OWNERS_BY_IOCTL)):
            refused = [line for word in words for line in _if(JUMP_EQUAL, word, refuse)]
            lines += _only_for(call[column], SECOND_ARGUMENT, [*refused, (RETURN, 0, 0, ALLOW)])
    # Its flags are behind a pointer, where no filter can look; the C library then falls back to clone.
    lines += _if(JUMP_EQUAL, CLONE3[column], ERRNO | errno.ENOSYS)
    lines += [(JUMP_EQUAL, 0, 4, CLONE[column]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    lines += [*_if(JUMP_BITS, NEW_NAMESPACES, refuse), (RETURN, 0, 0, ALLOW)]
    # A process may ask to be killed when its parent ends, and for nothing less.
    killed = [(LOAD, 0, 0, SECOND_ARGUMENT), *_if(JUMP_EQUAL, signal.SIGKILL, ALLOW), (RETURN, 0, 0, refuse)]
    asks = [(JUMP_EQUAL, 1, 0, PR_SET_PDEATHSIG), (RETURN, 0, 0, ALLOW), *killed]
    lines += _only_for(PRCTL[column], FIRST_ARGUMENT, asks)
    lines += [(JUMP_EQUAL, 0, 2 + 2 * len(FAMILIES), SOCKET[column]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    for family in FAMILIES:
        lines += _if(JUMP_EQUAL, family, ALLOW)
    lines += [(RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _only_for(number: int, argument: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Lines that look at an argument of one call, and end there."""
    return [(JUMP_EQUAL, 0, 1 + len(then), number), (LOAD, 0, 0, argument), *then]


def _if(jump: int, value: int, then: int) -> list[tuple[int, int, int, int]]:
    return [(jump, 0, 1, value), (RETURN, 0, 0, then)]
