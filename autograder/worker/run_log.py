"""Reports written down as they come, so that a run that was interrupted goes on where it stopped.

Each report is a line of JSON, with the stamp of what was graded: the submission's bytes and the course's version. If a
line was cut off, it is passed over, and its submission graded again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from autograder.report import Report
from autograder.reports.marks_file import report_of
from autograder.submission import Submission


class RunLog:
    """The run log of the report at `path`; lies beside it until the report is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".part")
        self._known = dict(_lines(self.path))
        self._file = self.path.open("a", encoding="utf-8")

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()
        if kind is None:
            self.path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._known)

    def grade(
        self, stamped: list[tuple[Submission, str]], grade: Callable[[list[Submission]], Iterator[Report]]
    ) -> Iterator[Report]:
        """A report for each submission, in order: the one that was written down, or what `grade` gives."""
        fresh = grade([submission for submission, stamp in stamped if stamp not in self._known])
        for _, stamp in stamped:
            known = self._known.get(stamp)
            if known is None:
                known = next(fresh)
                if known.status == "graded":  # what failed is tried again: it may have been the machine's fault
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
