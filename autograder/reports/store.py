"""What marks were made of: one SQLite file beside the gradebook.

It has each change of a mark with its reason, and digests of the work, the course and the settings behind it; all graded
work, with the reports on it; and digests of the files that were made. It has no paths and no times of files, so it
moves with the course. No mark depends on it: without it, marks stay in the gradebook, and the history begins again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from autograder.errors import AutograderError
from autograder.report import Report, report_of
from autograder.reports.rubric import total

FILE = "marks.db"
WAIT = 60  # seconds for another run that is writing
PAGE, NOTEBOOK = "feedback page", "autograded notebook"  # what there is a digest of: see `Store.digests`
TABLES = """
CREATE TABLE IF NOT EXISTS entry (student TEXT, assignment TEXT, data BLOB);
CREATE TABLE IF NOT EXISTS work (student TEXT, assignment TEXT, digest TEXT, notebook BLOB, python BLOB,
    PRIMARY KEY (student, assignment, digest));
CREATE TABLE IF NOT EXISTS report (student TEXT, assignment TEXT, digest TEXT, suite TEXT, data BLOB,
    PRIMARY KEY (student, assignment, digest, suite));
CREATE TABLE IF NOT EXISTS saved (number INTEGER, assignment TEXT, student TEXT, data BLOB);
CREATE TABLE IF NOT EXISTS unfinished (stamp TEXT PRIMARY KEY, student TEXT, report BLOB);
CREATE TABLE IF NOT EXISTS file (student TEXT, assignment TEXT, kind TEXT, digest TEXT,
    PRIMARY KEY (student, assignment, kind));
"""
FORGET = (
    "DELETE FROM entry WHERE student = ?", "DELETE FROM work WHERE student = ?",
    "DELETE FROM report WHERE student = ?", "DELETE FROM file WHERE student = ?",
    "DELETE FROM saved WHERE student = ?", "DELETE FROM unfinished WHERE student = ?",
)  # fmt: skip

EVERYBODY = ""  # in place of a student: what is saved of all
SavedRows = dict[str, dict[str, str | float | bool | None]]  # by the row's id in the gradebook, its columns
Saved = tuple[SavedRows, dict[str, bytes]]  # rows, and files by name
SetAside = tuple[float | None, float | None]  # before a withdrawal: automatic score, extra credit


class MadeOf(msgspec.Struct, omit_defaults=True):
    """What the marks of a submission were made of, and the automatic scores that this gave.

    work: a digest of what was handed in; files: of all files in the student's folder; time: of handing in, if known
    suite: a digest of all that a mark depends on in the course
    cells: for each graded cell its points, and a digest of its question
    scores, set_aside: by grade_id the scores, and what cells of withdrawn exercises had before
    """

    work: str = ""
    files: str = ""
    time: str = ""
    suite: str = ""
    cells: dict[str, tuple[float, str]] = {}
    scores: dict[str, float | None] = {}
    set_aside: dict[str, SetAside] = {}


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """When and why marks changed, and their parts.

    points: by exercise or written question the score and the maximum
    by_hand: the exercises and questions that a person graded
    """

    date: datetime
    who: str
    kit: str
    reason: str
    points: dict[str, tuple[float, float]]
    penalty: float = 0.0
    by_hand: tuple[str, ...] = ()
    note: str = ""
    made: MadeOf = msgspec.field(default_factory=MadeOf)

    @property
    def score(self) -> float:
        """The sum of all scores, less the penalty."""
        return total(sum(score for score, _ in self.points.values()), self.penalty)


class Store:
    """The file of the course in `root`. Raises `AutograderError` if it cannot be used, or is damaged."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open it for one transaction."""
        try:
            if not self.path.exists() and (gradebook := self.path.with_name("gradebook.db")).is_file():
                self.path.touch()
                self.path.chmod(gradebook.stat().st_mode)
            with contextlib.closing(sqlite3.connect(self.path, timeout=WAIT)) as database, database:
                database.executescript(TABLES)
                yield database
        except sqlite3.OperationalError as error:
            raise AutograderError(f"{self.path} cannot be used: {error}; this user must be able to write it") from None
        except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
            raise AutograderError(
                f"{self.path} is damaged ({error}). Put a copy in its place, or remove it, and run this again. No mark "
                "is lost, since the gradebook has them; without a copy their history is"
            ) from None

    def entries(self, assignment: str, student: str = "") -> dict[str, list[Entry]]:
        """By student, or of one, all entries on an assignment, the oldest first."""
        found = defaultdict[str, list[Entry]](list)
        if self.path.exists():
            with self._open() as database:
                wanted = "SELECT student, data FROM entry WHERE assignment = ? ORDER BY rowid"
                for name, data in database.execute(wanted, [assignment]):
                    if student in ("", name):
                        found[name].append(msgspec.json.decode(data, type=Entry))
        return dict(found)

    def add(self, assignment: str, student: str, entry: Entry) -> None:
        """Append an entry."""
        with self._open() as database:
            _add(database, assignment, student, entry)

    def keep(
        self, made: MadeOf, notebook: bytes, python: Mapping[str, bytes], report: Report, autograded: str,
        entry: Entry | None,
    ) -> None:  # fmt: skip
        """Keep graded work, the report on it and, if marks changed, an entry. autograded: the notebook's digest then"""
        names = (report.student, report.assignment, made.work)
        with self._open() as database:
            work = (*names, notebook, msgspec.json.encode(python))
            database.execute("INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?, ?)", work)
            found = (*names, made.suite, msgspec.json.encode(report.to_dict()))
            database.execute("INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?, ?)", found)
            _set(database, *names[:2], NOTEBOOK, autograded)
            if entry:
                _add(database, report.assignment, report.student, entry)

    def report(self, assignment: str, student: str, made: MadeOf) -> Report | None:
        """The report on this work by this version of the suite; None if there is none."""
        with self._open() as database:
            rows = database.execute(
                "SELECT data FROM report WHERE student = ? AND assignment = ? AND digest = ? AND suite = ?",
                (student, assignment, made.work, made.suite),
            )
            return next((report_of(msgspec.json.decode(data)) for (data,) in rows), None)

    def digests(self, assignment: str, kind: str) -> dict[str, str]:
        """By student the digest of a file that was made, or of what is shown in it."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            found = "SELECT student, digest FROM file WHERE assignment = ? AND kind = ?"
            return dict(database.execute(found, (assignment, kind)))

    def set_digest(self, assignment: str, student: str, kind: str, digest: str) -> None:
        """Record that such a file was made."""
        with self._open() as database:
            _set(database, student, assignment, kind, digest)

    # ------------------------------------------------------------ regrades, to be undone

    def save(self, assignment: str, saved: Mapping[str, Saved]) -> int:
        """Save, by student, rows of the gradebook and files. Returns a number for it."""
        with self._open() as database:
            ((number,),) = database.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM saved")
            rows = ((number, assignment, who, msgspec.json.encode(parts)) for who, parts in saved.items())
            database.executemany("INSERT INTO saved VALUES (?, ?, ?, ?)", rows)
            return int(number)

    def saved(self, assignment: str) -> tuple[int, dict[str, Saved]]:
        """What was saved last, with its number; 0 if there is nothing."""
        with self._open() as database:
            ((number,),) = database.execute("SELECT MAX(number) FROM saved WHERE assignment = ?", [assignment])
            rows = database.execute("SELECT student, data FROM saved WHERE number = ?", [number])
            return number or 0, {who: msgspec.json.decode(data, type=Saved) for who, data in rows}

    def drop(self, number: int) -> None:
        """Remove what was saved under this number."""
        with self._open() as database:
            database.execute("DELETE FROM saved WHERE number = ?", [number])

    # ------------------------------------------------------------ runs without a gradebook

    def unfinished(self) -> dict[str, Report]:
        """The reports of interrupted runs, by the stamp of what was graded."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            rows = database.execute("SELECT stamp, report FROM unfinished")
            return {stamp: report_of(msgspec.json.decode(data)) for stamp, data in rows}

    def begin(self, reports: Mapping[str, Report]) -> None:
        """Save reports by their stamps until the run is finished."""
        with self._open() as database:
            rows = ((key, report.student, msgspec.json.encode(report.to_dict())) for key, report in reports.items())
            database.executemany("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?)", rows)

    def finish(self, stamps: Iterable[str]) -> None:
        """Remove the reports of a run that is finished."""
        with self._open() as database:
            database.executemany("DELETE FROM unfinished WHERE stamp = ?", ([stamp] for stamp in stamps))

    def forget(self, student: str) -> bool:
        """Remove all about a student. Returns whether there was anything."""
        if not self.path.exists():
            return False
        with self._open() as database:
            database.execute("PRAGMA secure_delete = ON")
            return sum(database.execute(delete, [student]).rowcount for delete in FORGET) > 0


def _set(database: sqlite3.Connection, *row: str) -> None:
    database.execute("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?)", row)


def _add(database: sqlite3.Connection, assignment: str, student: str, entry: Entry) -> None:
    database.execute("INSERT INTO entry VALUES (?, ?, ?)", (student, assignment, msgspec.json.encode(entry)))
