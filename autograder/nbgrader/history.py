"""The history of each student's marks: an append-only file beside the gradebook.

`history/STUDENT/ASSIGNMENT.jsonl` has a line for each change of a mark. `history/STUDENT/ASSIGNMENT/` has each
submission that was graded, and each report, named by its digest. Everything about a student is in one folder.
"""

from __future__ import annotations

import contextlib
import getpass
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.api import Gradebook

from autograder import __version__
from autograder.course.assignments import CHECK
from autograder.discovery import name_problem
from autograder.errors import AutograderError
from autograder.nbgrader import gradebook_backup
from autograder.nbgrader.files import remove_tree
from autograder.nbgrader.gradebook_rows import marks_now, penalty_in, total
from autograder.nbgrader.outcomes import SetAside, set_aside_in, stored_with_marks
from autograder.reading import read_bytes
from autograder.report import Report
from autograder.submission import MAX_BYTES, Submission
from autograder.text import shown_name
from cellcage.files import put

FOLDER = "history"
BY_HAND = "manual grade"  # the reason of an entry after a person has graded
ELSEWHERE = "the gradebook was changed"  # the reason if something else has, such as an older copy of it
SHORT = 16  # letters of a digest in a file's name
DIGESTS = ("suite", "submission")


ExercisePoints = Mapping[str, tuple[float, float]]  # by exercise or written question the score and the maximum
GradebookMarks = tuple[dict[str, tuple[float, float]], float, tuple[str, ...]]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line: when and why marks changed, and their parts.

    points: by exercise or written question the score and the maximum
    by_hand: the exercises and questions that a person graded
    suite: a digest of all that a mark depends on in the course
    submission: a digest of what was handed in
    set_aside: what cells of withdrawn exercises had before
    """

    date: datetime
    who: str
    kit: str
    reason: str
    points: dict[str, tuple[float, float]]
    penalty: float = 0.0
    by_hand: tuple[str, ...] = ()
    suite: str = ""
    submission: str = ""
    note: str = ""
    set_aside: dict[str, SetAside] = {}

    @property
    def score(self) -> float:
        """The sum of all scores, less the penalty."""
        return total(sum(score for score, _ in self.points.values()), self.penalty)

    @property
    def max_score(self) -> float:
        """The sum of all maxima."""
        return sum(most for _, most in self.points.values())


def folder_of(root: Path, student: str) -> Path:
    """The folder with everything about a student. Raises `AutograderError` if this cannot be a student's id."""
    if name_problem(student) is not None or "/" in student or not student:
        raise AutograderError(f"'{shown_name(student)}' cannot be a student's id")
    return root / FOLDER / student


def entries(root: Path, student: str, assignment: str) -> list[Entry]:
    """All entries on a student's assignment, oldest first. A line that was cut off is skipped. Raises `OSError`."""
    path, found = folder_of(root, student) / f"{assignment}.jsonl", []
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        lines = []
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, ValueError):
            found.append(msgspec.json.decode(line, type=Entry))
    return found


def set_aside(root: Path, student: str, assignment: str, notebook: Path) -> Mapping[str, SetAside]:
    """What cells of withdrawn exercises had before, by the autograded notebook; by the history if that is gone."""
    known = entries(root, student, assignment)
    return set_aside_in(notebook) if stored_with_marks(notebook) or not known else known[-1].set_aside


def record(
    coursedir: Any,
    assignment: str,
    student: str,
    reason: str,
    digests: Mapping[str, str],
    note: str = "",
    set_aside: Mapping[str, SetAside] | None = None,
) -> bool:
    """Append what the gradebook holds now, if that differs from the last entry. Returns whether it did.

    reason: why it changed; the first entry has `first grading` instead
    digests: `suite` and `submission`; if missing, those of the last entry with these points
    set_aside: what withdrawn exercises had before; None if that is as it was
    """
    root = Path(coursedir.root)
    before = entries(root, student, assignment)
    last = before[-1] if before else None
    marks = _marks(coursedir, assignment, student)
    if marks is None:
        return False
    points, penalty, by_hand = marks
    same = _made_of(before, points, by_hand)  # not always the last, such as after an undone regrade
    suite, submission = (digests.get(key) or (getattr(same, key) if same else "") for key in DIGESTS)
    if reason == BY_HAND and last and not _is_by_hand(last, points, by_hand):
        reason = ELSEWHERE
    if set_aside is None:
        set_aside = last.set_aside if last else {}
    entry = Entry(
        datetime.now(UTC).replace(microsecond=0), _user(), __version__, reason if last else "first grading",
        points, penalty, by_hand, suite, submission, note, dict(set_aside),
    )  # fmt: skip
    marks_keys = ("points", "penalty", "by_hand", *DIGESTS)
    if last and not note and all(getattr(entry, key) == getattr(last, key) for key in marks_keys):
        return False
    path = folder_of(root, student) / f"{assignment}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(max(0, file.tell() - 1))
        cut_off = file.read(1) not in (b"", b"\n")  # as when a disk was full
        file.write(b"\n" * cut_off + msgspec.json.encode(entry) + b"\n")
    return True


def _is_by_hand(last: Entry, points: ExercisePoints, by_hand: Collection[str]) -> bool:
    """True if what differs from the last entry is what a person graded, or no longer grades."""
    changed = {name for name in points.keys() | last.points.keys() if points.get(name) != last.points.get(name)}
    return not changed or not changed.isdisjoint({*by_hand, *last.by_hand})


def submission_of(coursedir: Any, assignment: str, student: str) -> str:
    """The digest of the submission to which the gradebook's marks belong; empty if that is not known."""
    known, marks = entries(Path(coursedir.root), student, assignment), _marks(coursedir, assignment, student)
    points, _, by_hand = marks or ({}, 0.0, ())
    found = _made_of(known, points, by_hand)
    return found.submission if found else ""


def _made_of(known: Sequence[Entry], points: ExercisePoints, by_hand: Collection[str]) -> Entry | None:
    """The last entry with these points, whatever a person gave; else the last one, or None if there is none."""
    for entry in reversed(known):
        own = {*by_hand, *entry.by_hand}
        if all(points.get(name) == entry.points.get(name) for name in (points.keys() | entry.points.keys()) - own):
            return entry
    return known[-1] if known else None


def _marks(coursedir: Any, assignment: str, student: str) -> GradebookMarks | None:
    """Points, penalty, and what a person graded, from the gradebook; None if the student has no submission."""
    marks = marks_now(coursedir, assignment, student).get(student)
    if not marks:
        return None
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        penalty = penalty_in(book.find_submission(assignment, student))
    marked = {
        name.removeprefix(CHECK): mark for name, mark in marks.items() if (mark.auto, mark.manual) != (None, None)
    }
    points = {name: (mark.score, mark.max_score) for name, mark in marked.items()}
    by_hand = (name for name, mark in marked.items() if mark.manual is not None or mark.extra)
    return points, penalty, tuple(sorted(by_hand))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def store(root: Path, submission: Submission, digests: Mapping[str, str], report: Report) -> None:
    """Store a submission as it was handed in, and the report on it. Its Python files go to a folder of its name."""
    notebook, json_file = stored_files(root, submission.student, submission.assignment, **digests)
    notebook.parent.mkdir(parents=True, exist_ok=True)
    notebook.write_bytes(read_bytes(submission.path, MAX_BYTES, ""))
    put(dict(submission.python.files), notebook.with_suffix(""), 0o644)
    json_file.write_bytes(msgspec.json.encode(report.to_dict()))


def stored_files(root: Path, student: str, assignment: str, suite: str, submission: str) -> tuple[Path, Path]:
    """Where a submission is stored, and the report that this version of the suite gave on it; by their digests."""
    folder, name = folder_of(root, student) / assignment, submission[:SHORT]
    return folder / f"{name}.ipynb", folder / f"{name}-{suite[:SHORT]}.json"


def forget(root: Path, student: str) -> bool:
    """Remove all that is stored here about a student. Returns whether there was anything."""
    own = folder_of(root, student)
    has_own = own.is_dir()
    remove_tree(own)
    return gradebook_backup.forget(root, student) or has_own
