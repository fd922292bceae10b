"""Downloads from Canvas, Moodle and Gradescope, and nbgrader's `zip_collect` for them, in a small course."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.course.assignments import Course
from tests.helpers.small_course import NAME, NOTEBOOK, nbgrader

OLD, NEW = (2027, 2, 1, 8, 0, 0), (2027, 2, 2, 8, 0, 0)


def packed(entries: Mapping) -> bytes:
    """A zip file of texts or bytes, by name or by (name, time)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, content in entries.items():
            entry, when = key if isinstance(key, tuple) else (key, OLD)
            archive.writestr(zipfile.ZipInfo(entry, when), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


class AsTheFinder(zipfile.ZipInfo):
    """An entry as macOS writes it: decomposed accents in UTF-8, without the UTF-8 flag."""

    encoding = "utf-8"

    def _encodeFilenameFlags(self):
        return unicodedata.normalize("NFD", self.filename).encode(self.encoding), self.flag_bits


def repacked(names: Mapping, kind: type[zipfile.ZipInfo] = zipfile.ZipInfo) -> bytes:
    """A repacked zip file with entries of this kind; backslashes in names are kept."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in names.items():
            entry = kind("x", OLD)
            entry.filename = name
            archive.writestr(entry, content)
    return out.getvalue()


def archive_of(course: Course) -> Path:
    """The folder in which nbgrader looks for downloads."""
    folder = course.root / "downloaded" / NAME / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def download(course: Course, entries: Mapping, name: str = "submissions.zip") -> None:
    (archive_of(course) / name).write_bytes(packed(entries))


def collect(course: Course, collector: str, code: int = 0) -> tuple[str, list[str]]:
    """Run `zip_collect`, which must end with this exit code: its log, and the lines about files not collected."""
    collector = f"--collector=autograder.systems.{collector.lower()}.{collector}"
    log = nbgrader(course, "zip_collect", NAME, "--force", collector, code=code)
    assert "Traceback" not in log, log
    return log, log.partition("not collected:")[2].splitlines()


def collected(course: Course) -> dict[str, str]:
    """The text of each collected notebook, by student."""
    return {path.parents[1].name: path.read_text() for path in course.root.glob(f"submitted/*/{NAME}/{NOTEBOOK}")}


def files_collected(course: Course) -> dict[str, list[str]]:
    """The names of collected files, by student."""
    return {one.parent.name: sorted(p.name for p in one.iterdir()) for one in course.root.glob(f"submitted/*/{NAME}")}
