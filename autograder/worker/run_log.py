"""Saves each report as it comes, so that an interrupted run can go on where it stopped.

Each line of JSON has a report, and the stamp of what was graded: the submission's bytes and the course's version. A
line that was cut off is ignored, and its submission is graded again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from autograder.report import Report, report_of
from autograder.submission import Submission


class RunLog(AbstractContextManager["RunLog"]):
    """The run log of the report at `path`. It is a file beside the report, removed when the report is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".part")
        self._known = dict(_lines(self.path))
        self._file = self.path.open("a", encoding="utf-8")

    def __exit__(self, error_type: type[BaseException] | None, *rest: object) -> None:
        self._file.close()
        if error_type is None:
            self.path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._known)

    def grade(
        self, stamped: list[tuple[Submission, str]], grade: Callable[[list[Submission]], Iterator[Report]]
    ) -> Iterator[Report]:
        """A report for each submission, in order: the saved one, or what `grade` gives."""
        fresh = grade([submission for submission, stamp in stamped if stamp not in self._known])
        for _, stamp in stamped:
            known = self._known.get(stamp)
            if known is None:
                known = next(fresh)
                if known.status == "graded":  # a failed one is tried again: it may have been the machine's fault
                    self._file.write(json.dumps({"stamp": stamp, "report": known.to_dict()}) + "\n")
                    self._file.flush()
            yield known


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


def _lines(path: Path) -> Iterator[tuple[str, Report]]:
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
            yield data["stamp"], report_of(data["report"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
