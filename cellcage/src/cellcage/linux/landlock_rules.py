"""Landlock: a sandbox that a process builds around itself, for good, without namespaces and without special rights.

Each version of its interface (ABI) covers more:

    1 (Linux 5.13)   opening, making and removing files      4 (6.7)    TCP
    2 (5.19)         moving files between folders            5 (6.10)   device controls
    3 (6.2)          cutting files short                     6 (6.12)   signals, abstract sockets

It does not cover what works without opening a file: a process can ask for a path's existence, size and times, and the
owner of a file can set its mode, owner, times and extended attributes. `linux.seccomp` refuses the setting of them.

Source: https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

from cellcage.linux.system_calls import PR_SET_NO_NEW_PRIVS, checked, libc, prctl

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every processor
ASK_VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << n for n in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << n for n in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FILES_BY_ABI = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
TCP, SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
TCP_ABI, SCOPE_ABI = 4, 6
FOR_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
DEVICES = {f"/dev/{name}": READ_FILE | WRITE_FILE for name in ("null", "zero", "full", "random", "urandom")}

PathRule = tuple[str, int]
# What is missing before a version, in words.
LOST = (
    (
        SCOPE_ABI,
        "no rule for signals, so untrusted code may send none, and processes that a call starts end with the notebook",
    ),
    (TCP_ABI, "no rule for TCP, which only seccomp refuses"),
    (3, "no rule for cutting files short, which only seccomp refuses"),
    (2, "no way to move files between folders"),
)


def abi() -> int:
    """Version of the kernel's Landlock; 0 if it has none, or does not say."""
    if sys.platform != "linux":
        return 0
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def no_new_privileges() -> None:
    """Keep programs that this thread starts from gaining rights (setuid). Landlock and seccomp require this."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def restrict(rules: Iterable[PathRule], version: int) -> None:
    """From now on this thread and all that it starts have the rights in these rules, and no others.

    rules: places, and rights on what is beneath them; a place that does not exist, or is not for this user, is left out
    As far as `version` can, this also refuses TCP, and signals and abstract sockets to processes outside.
    Raises `OSError`.
    """
    no_new_privileges()
    handled = _file_rights(version)
    ruleset = _ruleset(handled, *([TCP] if version >= TCP_ABI else []), *([SCOPES] if version >= SCOPE_ABI else []))
    for place, rights in rules:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            _add(ruleset, place, rights & handled)
    restrict_to(ruleset)


def rules_without_writing(version: int) -> int:
    """Rules that forbid writing files and nothing else, as a descriptor. Raises `OSError`."""
    ruleset = _ruleset(_file_rights(version) & WRITE & ~READ)
    _add(ruleset, os.devnull, WRITE_FILE)
    return ruleset


def restrict_to(ruleset: int) -> None:
    """From now on these rules, too, hold for this thread and all that it starts. Raises `OSError`."""
    try:
        _call(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def scope_signals() -> None:
    """From now on this thread and all that it starts can send signals only to each other. Needs version 6."""
    restrict_to(_ruleset(0, 0, SCOPES))


def _file_rights(version: int) -> int:
    return sum(rights for since, rights in FILES_BY_ABI if version >= since)


def _ruleset(*handled: int) -> int:
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    return _call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)


def _add(ruleset: int, place: str, rights: int) -> None:
    descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= FOR_A_FILE
        _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    return checked(libc.syscall(number, *arguments), "landlock")


def reading(places: Iterable[str]) -> Iterator[PathRule]:
    """Rules for reading what is beneath some places, and for the usual devices."""
    yield from DEVICES.items()
    for place in sorted({os.path.realpath(place) for place in places}):
        yield place, READ
