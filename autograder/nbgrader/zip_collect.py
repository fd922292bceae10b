"""nbgrader's `zip_collect`: unpacks a system's download, and reports what was not collected.

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
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.plugins import ExtractorPlugin

from autograder.errors import SubmissionError
from autograder.nbgrader.collectors import MAX_METADATA
from autograder.nbgrader.files import blocks, copy_plain_files, is_plain, remove_tree
from autograder.nbgrader.system_collector import ARCHIVES
from autograder.submission import MAX_BYTES
from autograder.text import printable

MAX_FILE = MAX_METADATA  # bytes; no other file of a download is as large
MAX_ALL = 1_000 * MAX_BYTES  # bytes of a download: 1,000 students, each with the largest notebook that is read
MAX_ENTRIES = 100_000  # of a download: 1,000 students with 100 files each
_ENCRYPTED = 0x1  # a bit of an entry's flags
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
                self.log.warning("%s is not opened: it is in a hand-in", printable(str(path.relative_to(target))))


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
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        _check_size(entries, target)
        reasons = ((printable(entry.filename), _unpack(archive, entry, target)) for entry in entries)
        return [f"{name} {reason}" for name, reason in reasons if reason]


def _check_size(entries: list[zipfile.ZipInfo], target: Path) -> None:
    if len(entries) > MAX_ENTRIES:
        raise SubmissionError(f"it holds {len(entries):,} files; the limit is {MAX_ENTRIES:,}")
    size, free = sum(entry.file_size for entry in entries), shutil.disk_usage(target.parent).free
    if size > MAX_ALL:
        raise SubmissionError(f"it would become {size / 2**30:.1f} GB; the limit is {MAX_ALL / 2**30:.1f}")
    if size > free:
        raise SubmissionError(f"it would become {size / 2**30:.1f} GB, and the disk has {free / 2**30:.1f}")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> str:
    """Unpack one entry. Returns why it was not unpacked."""
    if reason := _why_refused(entry):
        return reason
    path = target / PurePosixPath(entry.filename)
    if os.path.lexists(path):
        return "has the name of another entry, which was kept"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, path.open("xb") as file:
            file.writelines(blocks(packed, entry.file_size))
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
    if not parts or name.startswith("/") or "\\" in name or ".." in parts:
        return "leads out of the archive"
    if kind == stat.S_IFLNK:
        return "is a link"
    if kind not in (0, stat.S_IFREG):
        return "is not a file"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.file_size > MAX_FILE:
        return f"would become {entry.file_size / 2**20:.0f} MB; the limit is {MAX_FILE // 2**20}"
    return ""


_process = ZipCollectApp.process_extracted_files


def process_extracted_files(self: Any) -> None:
    """nbgrader's own, and a group's work for each member. Logs at the end who was not collected.

    The exit code is then 1.
    """
    try:
        _process(self)
        sorted_out = getattr(self.collector_plugin_inst, "sorted_out", None)
        if sorted_out is not None:
            for sentence in sorted_out.older:
                self.log.warning("%s", sentence)
            owners = sorted_out.taken.values()
            members = {owner.student: owner.others for owner in owners if owner.for_each}
            _copy_to_members(self.coursedir, members)
            everybody = {owner.student for owner in owners}.union(*members.values())
            self.log.info("%d students collected", len(everybody))
    finally:
        plugins = self.extractor_plugin_inst, self.collector_plugin_inst
        left = [sentence for plugin in plugins for sentence in getattr(plugin, "left", ())]
        if left:
            self.log.error("%d not collected:\n%s", len(left), "\n".join(f"  {sentence}" for sentence in left))
    if left:
        self.exit(1)


def _copy_to_members(coursedir: Any, members: Mapping[str, Collection[str]]) -> None:
    """Copy what was collected for the first member of a group to the folders of the others."""
    for first, others in members.items():
        for other in others:
            source, target = (
                Path(coursedir.format_path(coursedir.submitted_directory, student, coursedir.assignment_id))
                for student in (first, other)
            )
            remove_tree(target)
            shutil.copytree(source, target)
