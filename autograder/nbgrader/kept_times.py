"""Collecting again keeps each `timestamp.txt` that a person has added, corrected or removed.

`.collected_times.json` has the times that were collected; what differs from them is a person's. If the same work is
collected again, the person's time stays. If it is other work, its own time counts. Both are logged by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.apps.zipcollectapp import ZipCollectApp

from autograder.errors import AutograderError, SubmissionError, in_words
from autograder.nbgrader.hardening.files import MAX_TIMESTAMP, TIMESTAMP, folders_of, is_plain
from autograder.nbgrader.hardening.timestamps import WrongTime, parse_utc
from autograder.reading import read_bytes
from autograder.text import one_line, shown_name

FILE = ".collected_times.json"  # in the course's folder
_KEPT = f"kept {TIMESTAMP} as a person has left it, since the same work was collected again"
_REPLACED = f"replaced a {TIMESTAMP} that a person had changed, since other work was collected; correct it if need be"
_process, _transfer = ZipCollectApp.process_extracted_files, ZipCollectApp._transfer_files


@contextlib.contextmanager
def times_kept(coursedir: Any, log: Any, own: Collection[str] = ()) -> Iterator[None]:
    """In the block, submissions of one assignment may be collected. own: further times that no person has written"""
    name, record = coursedir.assignment_id, Path(coursedir.root, FILE)
    collected = dict[str, str]()
    with contextlib.suppress(OSError, ValueError):
        collected = msgspec.json.decode(record.read_bytes(), type=dict[str, str])
    by_collector = {_time(text) for text in own}
    before = dict[str, tuple[bytes | None, str]]()  # of those whose time is a person's: the file, a digest of the rest
    for folder in _folders(coursedir):
        student, data = folder.parent.name, _read(folder)
        if _time(data) not in (collected.get(f"{name}/{student}", ""), *by_collector):
            before[student] = data, _work_in(folder)
    try:
        yield
    finally:
        kept, replaced = [], []
        times = {key: time for key, time in collected.items() if not key.startswith(f"{name}/")}
        for folder in _folders(coursedir):
            student, data = folder.parent.name, _read(folder)
            key, (old, work) = f"{name}/{student}", before.get(student, (data, ""))
            is_same = _time(data) == _time(old)
            times[key] = collected.get(key, "") if is_same and student in before else _time(data)
            if is_same:
                continue
            if _work_in(folder) == work and _write(folder / TIMESTAMP, old):
                kept.append(f"{shown_name(student)} ({_shown(old)}, not {_shown(data)})")
            else:
                replaced.append(f"{shown_name(student)} ({_shown(data)}, no longer {_shown(old)})")
        for sentence, names in ((_KEPT, kept), (_REPLACED, replaced)):
            if names:
                log.warning("%s: %s", sentence, ", ".join(names))
        known = {key: time for key, time in times.items() if time}
        with contextlib.suppress(OSError):  # then the next collect takes the times that are there for a person's
            record.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _folders(coursedir: Any) -> list[Path]:
    """Each student's folder of the assignment that is collected."""
    return [Path(path) for path in folders_of(coursedir, coursedir.submitted_directory, "*", coursedir.assignment_id)]


def _read(folder: Path) -> bytes | None:
    """The content of a folder's `timestamp.txt`; None if there is none that can be read."""
    try:
        return read_bytes(folder / TIMESTAMP, MAX_TIMESTAMP, "")
    except SubmissionError:
        return None


def _time(data: bytes | str | None) -> str:
    """A time, however it is written; empty if there is none. A text that is no time is taken as it is."""
    text = data.decode(errors="replace").strip("\ufeff \r\n") if isinstance(data, bytes) else data or ""
    try:
        return str(parse_utc(text) if text else "")
    except WrongTime:
        return text


def _shown(data: bytes | None) -> str:
    return one_line(_time(data)[:40]) or "no time"


def _work_in(folder: Path) -> str:
    """A digest of the names and contents of all other files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if is_plain(path) and path != folder / TIMESTAMP:
            digest.update(str(path.relative_to(folder)).encode("utf-8", "surrogateescape"))
            with contextlib.suppress(OSError), path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _write(path: Path, data: bytes | None) -> bool:
    """Write a file, or remove it. Returns whether that was possible."""
    try:
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
    except OSError:
        return False
    return True


def process_extracted_files(self: Any) -> None:
    """nbgrader's own, and the last step of a collector that has one (see `autograder.systems.collecting.Collector`).

    Logs what the extractor and the collector have left. The exit code is then 1.
    """
    collector = self.collector_plugin_inst
    self.closed = []
    try:
        if hasattr(collector, "finish") and self.log_level > logging.DEBUG:
            # Five lines of nbgrader's for each file; our collectors say what matters.
            self.log.addFilter(lambda record: record.module != "zipcollectapp")
        with times_kept(self.coursedir, self.log, getattr(collector, "own_times", ())):
            _process(self)
            if hasattr(collector, "finish"):
                collector.finish()
    except AutograderError as error:
        self.fail(f"Nothing is collected. {error}")
    left = [line for plugin in (self.extractor_plugin_inst, collector) for line in getattr(plugin, "left", ())]
    left += self.closed
    if left:
        self.log.error("%d not collected:\n%s", len(left), "\n".join(f"  {line}" for line in left))
        self.exit(1)


def transfer_files(self: Any, collected_data: dict[str, Any]) -> None:
    """nbgrader's own, for one student after another: a folder that cannot be written stops no other student's."""
    for student, found in collected_data.items():
        try:
            _transfer(self, {student: found})
        except OSError as error:
            self.closed.append(f"{shown_name(student)}: {in_words(error) or error}")
