"""Finds other users who can change a folder's files. A course's Python runs outside the sandbox, so this comes first.

Trusted are this user, root, and the owner of `/`, which is `nobody` in a container that does not map root's number.
Any other user who may write to a folder, or to one of its parents, could replace the course by their own.

- A parent folder with the sticky bit, such as /tmp, is safe: nobody there can replace another user's files. It is not
  safe as the course's own folder, since everybody may add files to it.
- A group is safe if it has no other members. Debian and Ubuntu give each user a group of the same name, and the
  umask 002. In Jupyter's images the only user has the group `users`. A group without a name is safe if it is this
  user's primary group (`docker run --user 1000:1000`). Group 0 is safe, too: OpenShift gives it to every user.
- Access control lists are not read: the owner has chosen who is on them. Windows has no such modes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = 0  # user and group
# Loaded files: `COURSE/ASSIGNMENT/EXERCISE/visible_tests.py`, its bytecode one level below, and shared files above.
DEPTH = ("*", "*/*", "*/*/*", "*/*/*/*")


@dataclass(frozen=True)
class Writer:
    """Another user who can write to `path`. The path followed by `how` is a sentence; `remedy` says what helps."""

    path: Path
    how: str
    remedy: str = "work in a folder of your own"


def other_writer(folder: Path) -> Writer | None:
    """Another user who can change a course's files; None if there is none.

    A folder that cannot be read counts as another user's.
    """
    if not hasattr(os, "geteuid"):
        return None
    try:
        folder = folder.resolve()
        found = (writer for path, is_parent in _paths(folder) if (writer := _writer(path, is_parent)))
        return next(found, None)
    except OSError as error:
        return Writer(Path(str(error.filename or folder)), f"cannot be looked at ({error.strerror})")


def _paths(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The folder's parents, itself and its contents, each with whether it is a parent."""
    yield from ((path, True) for path in reversed(folder.parents))
    yield folder, False
    for pattern in DEPTH:
        yield from ((path, False) for path in folder.glob(pattern))


def _writer(path: Path, is_parent: bool) -> Writer | None:
    try:
        status = path.stat()
    except FileNotFoundError:  # a dangling link, such as an editor's lock
        return None
    if status.st_uid not in (ROOT, os.geteuid(), os.stat("/").st_uid):
        return Writer(path, f"belongs to {_user(status.st_uid)}")
    if is_parent and status.st_mode & stat.S_ISVTX:
        return None
    if status.st_mode & stat.S_IWOTH:
        return Writer(path, "can be written by everybody", f"chmod o-w {path}")
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        return Writer(path, f"can be written by the group {_group(status.st_gid)}", f"chmod g-w {path}")
    return None


def _is_private(group: int) -> bool:
    """True if the group has no other member. A group without known members, as on a network, is not private."""
    import grp
    import pwd

    if group == ROOT:
        return True
    try:
        entry = grp.getgrgid(group)
    except KeyError:
        return group == os.getegid()
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    primary = {account.pw_name for account in pwd.getpwall() if account.pw_gid == group}
    others = (primary | set(entry.gr_mem)) - {user, pwd.getpwuid(ROOT).pw_name}
    return not others and (entry.gr_name == user or user in primary)


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"


def _group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
