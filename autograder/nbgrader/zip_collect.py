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
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.plugins import ExtractorPlugin

from autograder.errors import AutograderError, SubmissionError
from autograder.nbgrader.collectors import MAX_METADATA
from autograder.nbgrader.files import blocks, copy_plain_files, is_plain, remove_tree
from autograder.nbgrader.system_collector import ARCHIVES, GROUPS, Owner, SystemCollector
from autograder.submission import MAX_BYTES
from autograder.text import printable, shown_name

MAX_FILE = MAX_METADATA  # bytes; no other file of a download is as large
MAX_ALL = 1_000 * MAX_BYTES  # bytes of a download: 1,000 students, each with the largest notebook that is read
MAX_ENTRIES = 100_000  # of a download: 1,000 students with 100 files each
_ENCRYPTED, _UTF_8 = 0x1, 0x800  # bits of an entry's flags
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
        entries = [entry for entry in map(_named, archive.infolist()) if not entry.is_dir()]
        _check_size(entries, target)
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
    if not parts or name.startswith("/") or ".." in parts:
        return "leads out of the archive"
    if _decoded(entry) is None:
        return "has a name in an unknown encoding; unpack the zip yourself, and put the folder into archive/"
    if kind == stat.S_IFLNK:
        return "is a link"
    if kind not in (0, stat.S_IFREG):
        return "is not a file"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.file_size > MAX_FILE:
        return f"would become {entry.file_size / 2**20:.0f} MB; the limit is {MAX_FILE // 2**20}"
    return ""


_WAS_GROUP = (
    "removed {folder}, which an earlier collect had made: {group} is a group of {file} now. If it was graded, this "
    "takes it out of the gradebook: nbgrader db student remove '{group}' --force"
)
_NOT_IN_DOWNLOAD = "submitted/ also has work of these, who are not in this download; remove what should not be graded"
_NOT_IN_CLASS = "the roster in the gradebook has nobody with these ids; correct wrong names in archive/, or the roster"
_NO_SUCH_GROUP = f"{GROUPS} has these groups, and nothing was collected for them"
_process = ZipCollectApp.process_extracted_files


def process_extracted_files(self: Any) -> None:
    """nbgrader's own, and a group's work for each member. Logs at the end who was not collected.

    The exit code is then 1.
    """
    collector = self.collector_plugin_inst
    try:
        getattr(collector, "groups", None)
    except AutograderError as error:
        self.fail(f"Nothing is collected. {error}")
    try:
        _process(self)
        if isinstance(collector, SystemCollector):
            _finish(self, collector)
    finally:
        plugins = self.extractor_plugin_inst, collector
        left = [sentence for plugin in plugins for sentence in getattr(plugin, "left", ())]
        if left:
            self.log.error("%d not collected:\n%s", len(left), "\n".join(f"  {sentence}" for sentence in left))
    if left:
        self.exit(1)


def _finish(self: Any, collector: SystemCollector) -> None:
    """Give each member of a group its work, and log whose id may be wrong."""
    for sentence in collector.sorted_out.older:
        self.log.warning("%s", sentence)
    owners = set(collector.sorted_out.taken.values())
    for owner in owners:
        if owner.group:
            _copy_to_members(self.coursedir, owner)
    everybody = {student for owner in owners for student in (owner.student, *(owner.others if owner.group else ()))}
    for group in sorted({owner.group for owner in owners} - everybody - {""}):
        folder = _submitted(self.coursedir, group)
        if folder.is_dir():  # such as of a collect without the list of members; it would be graded as a student
            remove_tree(folder)
            self.log.warning("%s", _WAS_GROUP.format(folder=folder, group=shown_name(group), file=GROUPS))
    pattern = _submitted(self.coursedir, "*").relative_to(self.coursedir.root)
    folders = {path.parent.name for path in Path(self.coursedir.root).glob(str(pattern))}
    found = {collector.group_of(owner.group).casefold() for owner in owners}
    _name_them(self, _NOT_IN_DOWNLOAD, folders - everybody)
    _name_them(self, _NOT_IN_CLASS, everybody - collector.roster if collector.roster else ())
    _name_them(self, _NO_SUCH_GROUP, collector.groups.keys() - found)
    self.log.info("%d students collected", len(everybody))


def _name_them(self: Any, sentence: str, names: Collection[str]) -> None:
    if names:
        self.log.warning("%s: %s", sentence, ", ".join(map(shown_name, sorted(names))))


def _submitted(coursedir: Any, student: str) -> Path:
    return Path(coursedir.format_path(coursedir.submitted_directory, student, coursedir.assignment_id))


def _copy_to_members(coursedir: Any, owner: Owner) -> None:
    """Copy what was collected for the first member of a group to the folders of the others."""
    for other in owner.others:
        target = _submitted(coursedir, other)
        remove_tree(target)
        shutil.copytree(_submitted(coursedir, owner.student), target)
