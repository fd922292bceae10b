"""Reads files: untrusted bytes and JSON, with limits that are checked before parsing, and the course's own TOML."""

from __future__ import annotations

import copy
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from autograder.errors import CourseError, SubmissionError

Kind = TypeVar("Kind")

UNTRUSTED = frozenset({"submitted", "autograded", "downloaded"})  # nbgrader's folders of submissions
MAX_DEPTH = 100  # brackets within brackets; a notebook with interactive plots has 20
MAX_PARTS = 1_000_000  # strings, brackets, commas, colons, of 60 bytes each; ten thousand cells have half as many
# Follow no link, wait for no pipe. Windows lacks these flags; students there only read their own files.
_CAREFULLY = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
# An unterminated string ends where the text ends, so that no character is scanned twice.
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]+")


def is_handed_in(folder: Path, untrusted: Iterable[Path] = ()) -> bool:
    """True if a folder (its path resolved) lies among submissions or in an untrusted folder."""
    return not UNTRUSTED.isdisjoint(folder.parts) or any(folder.is_relative_to(place) for place in untrusted)


def read_bytes(path: Path, most: int, question: str) -> bytes:
    """A file's bytes, `most` at most. Follows no link and never blocks.

    question: ends the message about a file that is too large
    Raises `SubmissionError` with the reason, such as a link, a pipe, or too many bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _CAREFULLY)
    except (OSError, ValueError) as error:  # the name may be a student's text
        reason = "it is a link" if os.path.islink(path) else getattr(error, "strerror", None) or str(error)
        raise SubmissionError(f"{path.name} cannot be read: {reason}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise SubmissionError(f"{path.name} is not a file")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > most:
            size = f"{status.st_size / 2**20:.1f}".removesuffix(".0")
            raise SubmissionError(f"{path.name} has {size} MB; the limit is {most // 2**20}. {question}")
        return file.read(most)  # ignore bytes appended since


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises `ValueError` if it is invalid, or too large or too deep for a notebook."""
    rest, strings = _TEXT.subn("", text)
    if strings + sum(map(rest.count, "[]{},:")) > MAX_PARTS:
        raise ValueError(f"more than {MAX_PARTS:,} values and brackets")
    depth = 0
    for bracket in _NO_BRACKET.sub("", rest):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested too deeply, more than {MAX_DEPTH} brackets")
    return json.loads(text)


def read_toml(path: Path, kind: type[Kind]) -> Kind:
    """One of the course's TOML files as `kind`, a struct or a map. A missing file counts as empty.

    Raises `CourseError` that names the file and the key: `course.toml: words.points: expected str, got int`.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise CourseError(f"{path}: it is not TOML ({error})") from None
    return checked(data, kind, str(path))


def checked(data: Any, kind: type[Kind], place: str) -> Kind:
    """An author's settings as `kind`. Raises `CourseError` that begins with `place` and names the key."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        what, _, found = str(error).replace("`", "").partition(" - at ")
        key = f"{_key(copy.deepcopy(data), kind, found)}: " if found else ""
        what = f"{what[0].lower()}{what[1:]}"
        if (unknown := what.removeprefix("object contains unknown field ")) != what:
            known = () if found else getattr(kind, "__struct_encode_fields__", ())
            what = f"there is no {unknown!r}; " + (f"it may have {', '.join(known)}" if known else "is it a typo?")
        raise CourseError(f"{place}: {key}{what}") from None


def _key(data: Any, kind: type, place: str) -> str:
    """`names.math` of msgspec's `$.names[...]`, where `[...]` stands for any key of a map.

    The key is found by trial: with all other keys of the map removed from `data`, the error stays the same.
    """
    found, *parts = place.removeprefix("$").split("[...]")
    table = _at(data, found)
    for part in parts:
        whole = dict(table)
        for name in whole:
            table.clear()
            table[name] = whole[name]
            try:
                msgspec.convert(data, kind)
            except msgspec.ValidationError as error:
                if str(error).endswith(f"`{place}`"):
                    break
        found, table = f"{found}.{name}{part}", _at(table[name], part)
    return found.removeprefix(".")


def _at(value: Any, place: str) -> Any:
    """The value at a path such as `.early[0]`."""
    for part in re.findall(r"[^.\[\]]+", place):
        value = value[int(part) if isinstance(value, list) else part]
    return value


def write_whole(path: Path, text: str) -> None:
    """Write a file so that at any moment it is the old one or the new one."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")  # a terminal, a pipe
        return
    beside = path.with_name(path.name + ".new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
