"""nbgrader's exchange, a folder that students can write to: what is collected from it, and what is released to it.

nbgrader follows links there. A student who owns a hand-in can put any link into it.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import temp_attrs

from autograder.course.assignments import course_at
from autograder.errors import CourseError, in_words
from autograder.nbgrader.hardening.files import SECRET, TIMESTAMP, copy_plain_files, folders_of, is_plain
from autograder.nbgrader.kept_times import times_kept
from autograder.text import printable

_BRACKET = re.compile(r"[\[?]")
NEVER = datetime.min  # earlier than any hand-in, so that any other of this student's counts
KILOBYTE = 1000  # as nbgrader counts in `max_file_size` and `max_dir_size`


class Collect(ExchangeCollect):
    """nbgrader's own rules on names and sizes, but it follows no link, and reports what it has not collected."""

    src_records: list[dict[str, Any]]
    not_collected: list[str]

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy one hand-in. What is not copied is logged."""
        name, rules, source, target = printable(Path(src).name), self.coursedir, Path(src), Path(dest)

        def wanted(place: Path, is_folder: bool) -> bool:
            if any(fnmatch.fnmatch(place.name, pattern) for pattern in rules.ignore):
                return False
            return is_folder or any(fnmatch.fnmatch(place.name, pattern) for pattern in rules.include)

        try:
            most = KILOBYTE * rules.max_dir_size
            if not source.is_symlink() and self.get_size(source) > most:
                raise OSError(f"it is larger than max_dir_size, {most // KILOBYTE**2} MB")
            skipped = copy_plain_files(source, target, KILOBYTE * rules.max_file_size, wanted)
            if rules.groupshared:
                _share(target)
        except OSError as error:
            shutil.rmtree(dest, ignore_errors=True)
            self._not_collected(name, in_words(error) or str(error))
            return
        for sentence in skipped:
            self.log.warning("%s: %s, so it was not collected", name, printable(sentence))

    def _not_collected(self, name: str, reason: str) -> None:
        self.log.error("%s cannot be collected: %s", name, reason)
        self.not_collected.append(name)

    def _path_to_record(self, path: str) -> dict[str, object]:
        """nbgrader's own, and `NEVER` for a name without a time, which would end the collecting for everybody."""
        try:
            return dict(super()._path_to_record(path))
        except (ValueError, OverflowError, ExchangeError):
            name = Path(path).name
            return {"username": name.partition("+")[0], "filename": name, "timestamp": NEVER}

    def init_src(self) -> None:
        """nbgrader's own, but only `*` in an id is a pattern. Raises `ExchangeError` where it finds nothing."""
        if glob.has_magic(place := os.path.join(self.root, self.coursedir.course_id)):
            self.fail(f"{place}: nbgrader takes [, ? and * in the exchange's path for a pattern; rename that folder")
        with temp_attrs(self.coursedir, student_id=_BRACKET.sub(r"[\g<0>]", self.coursedir.student_id)):
            super().init_src()

    def copy_files(self) -> None:
        """Collect from all students. Raises `ExchangeError` at the end if somebody's work was not collected."""
        self.not_collected = []
        with times_kept(self.coursedir, self.log):
            self._collect(self.src_records)
        if self.not_collected:
            raise ExchangeError(f"not collected: {', '.join(self.not_collected)}")

    def _collect(self, records: list[dict[str, Any]]) -> None:
        for record in records:
            reason = _why_not_collected(record, Path(self.inbound_path, record["filename"]))
            if reason:  # before nbgrader removes what the student has handed in earlier
                self._not_collected(printable(record["filename"]), reason)
                continue
            self.src_records = [record]
            try:
                super().copy_files()
            except OSError as error:  # of this student's folder in submitted/
                self._not_collected(printable(record["filename"]), in_words(error) or str(error))
        if not records:
            super().copy_files()  # says so


def _share(folder: Path) -> None:
    """Let the instructors' group write, as nbgrader does for courses of several instructors."""
    for place, _, names in os.walk(folder):
        os.chmod(place, stat.S_IMODE(os.stat(place).st_mode) | 0o2770)  # noqa: S103 - the group is the instructors'
        for name in names:
            path = Path(place, name)
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o660)


def _why_not_collected(record: Mapping[str, object], place: Path) -> str:
    if record["timestamp"] == NEVER:
        return "its name is not STUDENT+ASSIGNMENT+TIME"
    if place.is_symlink():
        return "it is a link"
    return "" if place.is_dir() else "it is not a folder"


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's own, for each student separately, and only for the page of the course's notebook."""

    src_path: str

    def copy_files(self) -> None:
        """Release all pages. Raises `ExchangeError` at the end if one was not released."""
        failed, rules = [], self.coursedir
        student = rules.student_id or "*"
        for folder in map(Path, folders_of(rules, rules.feedback_directory, student, rules.assignment_id)):
            try:
                reason = next(_why_not_released(folder, rules), "")
                if not reason:
                    self.src_path = glob.escape(str(folder))
                    super().copy_files()
            except (OSError, ValueError, AssertionError) as error:  # such as a secret that is missing, or empty
                reason = str(error) or "its submission_secret.txt is empty"
            if reason:
                failed.append(f"{printable(str(folder))}: {printable(reason)}")
                self.log.error("Not released: %s", failed[-1])
        if failed:
            raise ExchangeError(f"{len(failed)} pages were not released; each is named above")


def _why_not_released(folder: Path, coursedir: Any) -> Iterator[str]:
    again = f"run nbgrader generate_feedback {coursedir.assignment_id} again"
    try:
        page = f"{course_at(Path(coursedir.root)).assignment(coursedir.assignment_id).notebook.stem}.html"
    except CourseError as error:
        yield str(error)
        return
    for name in (SECRET, TIMESTAMP):
        if not (folder / name).exists():
            yield f"no {name}, which the exchange adds to what is handed in there"
    for path in sorted(folder.iterdir()):
        if path.suffix == ".html" and path.name != page:
            yield f"{path.name} is not the page {page}; {again}"
        elif not is_plain(path):
            yield f"{path.name} is not a plain file; {again}"
