"""Unpacks a system's download for nbgrader's `zip_collect`.

nbgrader also unpacks archives inside a hand-in, and takes the names in them for the system's own. If one archive cannot
be read, nbgrader collects nothing of the whole class.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from nbgrader.plugins import ExtractorPlugin

from autograder.discovery import ARCHIVES
from autograder.errors import SubmissionError
from autograder.nbgrader.hardening.files import copy_plain_files, is_plain
from autograder.submission import MAX_BYTES
from autograder.text import printable

MAX_FILE = 500 * 2**20  # bytes; Gradescope's metadata has all output of a class's autograder
MAX_ALL = 1_000 * MAX_BYTES  # bytes of a download: 1,000 students, each with the largest notebook that is read
MAX_ENTRIES = 100_000  # of a download: 1,000 students with 100 files each
_UTF_8 = 0x800  # a bit of an entry's flags
# What zipfile raises for broken bytes.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError, OverflowError)


class Unpacked(ExtractorPlugin):
    """Unpacks the zips directly in `archive/` and copies all other files. No archive in a hand-in is opened.

    Only plain files are taken. `left` has a sentence for each file that was not taken, with the archive's name.
    """

    left: list[str]

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack a system's download, or copy what a teacher has unpacked already."""
        source, target, self.left = Path(archive_path), Path(extracted_path), []
        zips = {path.name for path in source.iterdir() if path.suffix.lower() == ".zip" and not path.is_dir()}
        self.left += copy_plain_files(source, target, MAX_FILE, lambda place, _: str(place) not in zips)
        for name in sorted(zips):
            self.log.info("Extracting from: %s", source / name)
            try:
                self.left += [f"{printable(name)}: {line}" for line in unpack(source / name, target / Path(name).stem)]
            except SubmissionError as error:
                self.left.append(f"{printable(name)} is not unpacked: {error}")
        for path in sorted(target.rglob("*")):
            if path.name.lower().endswith(ARCHIVES) and path.is_file():
                self.log.warning(
                    "%s is not opened, because it is inside a submission", printable(str(path.relative_to(target)))
                )


def unpack(path: Path, target: Path) -> list[str]:
    """Unpack a zip. Returns a sentence for each entry that was not unpacked.

    Raises `SubmissionError` with the reason if nothing is unpacked: a link, no zip, or more than the limits allow.
    """
    if not is_plain(path):
        raise SubmissionError("it is not a plain file")
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise SubmissionError(f"it cannot be read as a zip ({error}); download it again") from None
    with archive:
        entries = [entry for entry in map(_named, archive.infolist()) if not entry.is_dir()]
        _check_size(entries)
        reasons = ((printable(entry.filename), _unpack(archive, entry, target)) for entry in entries)
        return [f"{name} {reason}" for name, reason in reasons if reason]


def _named(entry: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The entry with its name as it was meant: older tools on Windows write backslashes between folders."""
    entry.filename = (_decoded(entry) or entry.filename).replace("\\", "/")
    return entry


def _decoded(entry: zipfile.ZipInfo) -> str | None:
    """An entry's name; None if its encoding is unknown.

    The macOS Finder and Canvas write UTF-8 without saying so, and zipfile takes that for an old encoding of DOS.
    """
    if entry.flag_bits & _UTF_8:
        return entry.orig_filename
    try:
        return entry.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeDecodeError:
        return None


def _check_size(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise SubmissionError(f"it has {len(entries):,} files; the limit is {MAX_ENTRIES:,}")
    size = sum(entry.file_size for entry in entries)
    if size > MAX_ALL:
        raise SubmissionError(f"unpacked, it would have {size / 2**30:.1f} GB; the limit is {MAX_ALL / 2**30:.1f}")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> str:
    """Unpack one entry. Returns why it was not unpacked."""
    if reason := _why_refused(entry):
        return reason
    path = target / PurePosixPath(entry.filename)
    if os.path.lexists(path):
        return "has the same name as another entry, which was kept"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, path.open("xb") as file:
            shutil.copyfileobj(packed, file)
        packed_at = time.mktime((*entry.date_time, 0, 0, -1))
        os.utime(path, (packed_at, packed_at))  # shows which of two attempts is newer
    except _BROKEN as error:
        with contextlib.suppress(OSError):
            path.unlink()
        return f"cannot be unpacked: {getattr(error, 'strerror', None) or error}"
    return ""


def _why_refused(entry: zipfile.ZipInfo) -> str:
    name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        return "leads out of the archive"
    if _decoded(entry) is None:
        return "has a name in an unknown encoding; unpack the zip yourself, and put the folder into archive/"
    if kind not in (0, stat.S_IFREG):
        return "is a link" if kind == stat.S_IFLNK else "is not a file"
    if entry.file_size > MAX_FILE:
        return f"would unpack to {entry.file_size / 2**20:.0f} MB; the limit is {MAX_FILE // 2**20}"
    return ""
