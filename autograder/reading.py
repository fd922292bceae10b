"""Reading files: untrusted bytes and JSON, bounded before anything is made of them, and the course's own TOML."""

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

UNTRUSTED = frozenset({"submitted", "autograded", "downloaded"})  # nbgrader's folders of what was handed in
MAX_DEPTH = 100  # brackets within brackets; a notebook with interactive plots has 20
MAX_PARTS = 1_000_000  # texts, brackets, commas, colons; ten thousand cells have half of it, and each takes 60 bytes
# A text ends at the latest where all ends, so that none is looked at twice.
# Follow no link, wait for no pipe. Windows has neither flag; there, students read files of their own.
_CAREFULLY = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]+")


def is_handed_in(folder: Path, untrusted: Iterable[Path] = ()) -> bool:
    """Does a folder, with no links on the way to it, lie among submissions, or in an untrusted folder?"""
    return not UNTRUSTED.isdisjoint(folder.parts) or any(folder.is_relative_to(place) for place in untrusted)


def read_bytes(path: Path, most: int, question: str) -> bytes:
    """A file's bytes, of which there are at most so many; follows no link and waits for nobody.

    question: ends the sentence that says there are more
    Raises `SubmissionError` with the reason, such as a link, a pipe, or too many bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _CAREFULLY)
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else error.strerror
        raise SubmissionError(f"{path.name} cannot be read: {reason}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise SubmissionError(f"{path.name} is not a file")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > most:
            size = f"{status.st_size / 2**20:.1f}".removesuffix(".0")
            raise SubmissionError(f"{path.name} has {size} MB; the limit is {most // 2**20}. {question}")
        return file.read(most)  # what grew since is cut off


def parse_json(text: str) -> Any:
    """What a JSON text says. Raises `ValueError` if it is none, or would take more memory than a notebook should."""
    rest, texts = _TEXT.subn("", text)
    if texts + sum(map(rest.count, "[]{},:")) > MAX_PARTS:
        raise ValueError(f"more than {MAX_PARTS:,} values and brackets")
    depth = 0
    for sign in _NO_BRACKET.sub("", rest):
        depth += 1 if sign in "[{" else -1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested too deeply, more than {MAX_DEPTH} brackets")
    return json.loads(text)


def read_toml(path: Path, kind: type[Kind]) -> Kind:
    """A TOML file of the course's as `kind`, a struct or a map. A file that is not there is empty.

    Raises `CourseError` that names the file and the key: `course.toml: ready_made.kernels: expected array, got str`.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise CourseError(f"{path}: it is not TOML ({error})") from None
    return checked(data, kind, str(path))


def checked(data: Any, kind: type[Kind], place: str) -> Kind:
    """What an author wrote as `kind`. Raises `CourseError` that begins with `place` and names the key."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        what, _, found = str(error).replace("`", "").partition(" - at ")
        key = f"{_key(copy.deepcopy(data), kind, found)}: " if found else ""
        raise CourseError(f"{place}: {key}{what[0].lower()}{what[1:]}") from None


def _key(data: Any, kind: type, place: str) -> str:
    """`names.math` of msgspec's `$.names[...]`, where `[...]` stands for any key of a map.

    Which one is found by trying: all other keys of the map are taken out of `data`, and the same is still wrong.
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
    """What stands at `.ready_made.names[0]`."""
    for part in re.findall(r"[^.\[\]]+", place):
        value = value[int(part) if isinstance(value, list) else part]
    return value
