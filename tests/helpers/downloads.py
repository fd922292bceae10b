"""What Canvas, Moodle and Gradescope give to download, and nbgrader's `zip_collect` on it, for a small course."""

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
    """A zip of texts and bytes by name, or by name and time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, content in entries.items():
            entry, when = key if isinstance(key, tuple) else (key, OLD)
            archive.writestr(zipfile.ZipInfo(entry, when), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


class AsTheFinder(zipfile.ZipInfo):
    """An entry as macOS packs it: accents beside their letters, in UTF-8, without the flag that says so."""

    encoding = "utf-8"

    def _encodeFilenameFlags(self):
        return unicodedata.normalize("NFD", self.filename).encode(self.encoding), self.flag_bits


def repacked(names: Mapping, kind: type[zipfile.ZipInfo] = zipfile.ZipInfo) -> bytes:
    """A zip that somebody has packed again, with entries of this kind; a backslash in a name stays one."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in names.items():
            entry = kind("x", OLD)
            entry.filename = name
            archive.writestr(entry, content)
    return out.getvalue()


def archive_of(course: Course) -> Path:
    """Where nbgrader looks for downloads."""
    folder = course.root / "downloaded" / NAME / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def download(course: Course, entries: Mapping, name: str = "submissions.zip") -> None:
    (archive_of(course) / name).write_bytes(packed(entries))


def collect(course: Course, collector: str, code: int = 0) -> tuple[str, list[str]]:
    """What was said, and the lines at the end that name those who were not collected; it ends with this exit code."""
    collector = f"--collector=autograder.systems.{collector.lower()}.{collector}"
    said = nbgrader(course, "zip_collect", NAME, "--force", collector, code=code)
    assert "Traceback" not in said, said
    return said, said.partition("not collected:")[2].splitlines()


def collected(course: Course) -> dict[str, str]:
    """The text of everybody's notebook."""
    return {path.parents[1].name: path.read_text() for path in course.root.glob(f"submitted/*/{NAME}/{NOTEBOOK}")}


def files_collected(course: Course) -> dict[str, list[str]]:
    """Names of files by student."""
    return {one.parent.name: sorted(p.name for p in one.iterdir()) for one in course.root.glob(f"submitted/*/{NAME}")}
