"""Who else can change what lies in a folder. A course's Python runs outside the sandbox, so this is asked first.

Trusted are this user, root, and whoever owns `/`, which is `nobody` in a container that does not know root's number.
Everybody else who may write to a folder, or to one on the way to it, could put a course of their own in its place.

- A folder with the sticky bit, such as /tmp, is safe on the way: nobody there replaces what another user owns. It is
  not safe as the place of the course itself, for everybody may add files to it.
- A group is safe if nobody else is in it. Debian and Ubuntu give each user a group of the same name, and the umask 002.
  In Jupyter's images the only user has the group `users`. A group without a name is safe if it is this user's first
  group (`docker run --user 1000:1000`), and so is group 0, which OpenShift gives to the user of every container.
- Access control lists are not read: their owner has chosen who is on them. Windows has no such modes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = 0  # user and group
# What is loaded: `COURSE/ASSIGNMENT/EXERCISE/visible_tests.py`, what is compiled of it below, and shared files above.
DEPTH = ("*", "*/*", "*/*/*", "*/*/*/*")


@dataclass(frozen=True)
class Writer:
    """Somebody else who can write to `path`. After the path, `how` makes a sentence; `remedy` says what helps."""

    path: Path
    how: str
    remedy: str = "work in a folder of your own"


def other_writer(folder: Path) -> Writer | None:
    """Somebody else who can change what a course's folder holds; None if there is nobody.

    What cannot be looked at counts as another user's.
    """
    if not hasattr(os, "geteuid"):
        return None
    try:
        folder = folder.resolve()
        found = (writer for path, is_on_the_way in _paths(folder) if (writer := _writer(path, is_on_the_way)))
        return next(found, None)
    except OSError as error:
        return Writer(Path(str(error.filename or folder)), f"cannot be looked at ({error.strerror})")


def _paths(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The folders from the root to this one, what is in it, and of each: is it on the way?"""
    yield from ((path, True) for path in reversed(folder.parents))
    yield folder, False
    for pattern in DEPTH:
        yield from ((path, False) for path in folder.glob(pattern))


def _writer(path: Path, is_on_the_way: bool) -> Writer | None:
    try:
        status = path.stat()
    except FileNotFoundError:  # a link to nothing, such as an editor's lock
        return None
    if status.st_uid not in (ROOT, os.geteuid(), os.stat("/").st_uid):
        return Writer(path, f"belongs to {_user(status.st_uid)}")
    if is_on_the_way and status.st_mode & stat.S_ISVTX:
        return None
    if status.st_mode & stat.S_IWOTH:
        return Writer(path, "can be written by everybody", f"chmod o-w {path}")
    if status.st_mode & stat.S_IWGRP and not _is_own(status.st_gid):
        return Writer(path, f"can be written by the group {_group(status.st_gid)}", f"chmod g-w {path}")
    return None


def _is_own(group: int) -> bool:
    """Is nobody else in a group? One whose members are not all known, as on a network, has others."""
    import grp
    import pwd

    if group == ROOT:
        return True
    try:
        entry = grp.getgrgid(group)
    except KeyError:
        return group == os.getegid()
    try:
        own = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    first = {user.pw_name for user in pwd.getpwall() if user.pw_gid == group}
    others = (first | set(entry.gr_mem)) - {own, pwd.getpwuid(ROOT).pw_name}
    return not others and (entry.gr_name == own or own in first)


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
