"""What became of each student's marks and when: an append-only history beside the gradebook.

`history/STUDENT/ASSIGNMENT.jsonl` has a line for each change of a mark. Beside it, in `history/STUDENT/ASSIGNMENT/`,
lies each submission that was graded, and each report, named by its digest. Everything of a student is in one folder.
"""

from __future__ import annotations

import contextlib
import getpass
import glob
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from nbgrader.api import Assignment, BaseCell, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler
from sqlalchemy import and_, bindparam, select

from autograder import __version__
from autograder.course import CHECK
from autograder.discovery import name_problem
from autograder.errors import AutograderError
from autograder.nbgrader import gradebook_backup
from autograder.nbgrader.files import remove_tree
from autograder.reading import read_bytes
from autograder.report import Report
from autograder.submission import MAX_BYTES, Submission
from autograder.text import shown_name

FOLDER = "history"
BY_HAND = "manual grade"  # the reason of what a person has entered
SHORT = 16  # letters of a digest in a file's name


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line: when and why marks became what they are, and what they were made of.

    points: by exercise or written question what counts, and the most there is; by_hand: those that a person gave
    suite: a digest of all a mark depends on in the course; submission: of what was handed in
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

    @property
    def score(self) -> float:
        """What counts in all, less the penalty."""
        return round(sum(score for score, _ in self.points.values()) - self.penalty, 2)

    @property
    def max_score(self) -> float:
        """The most there is."""
        return sum(most for _, most in self.points.values())

    def says_the_same(self, other: Entry) -> bool:
        """Are marks, and what they were made of, the same?"""
        return all(getattr(self, key) == getattr(other, key) for key in ("points", "penalty", "by_hand", *DIGESTS))


DIGESTS = ("suite", "submission")
_put = GradeHandler.put


def folder_of(root: Path, student: str) -> Path:
    """Where everything lies that is kept about a student. Raises `AutograderError` if nobody can have this name."""
    if name_problem(student) is not None or "/" in student or not student:
        raise AutograderError(f"'{shown_name(student)}' cannot be a student's id")
    return root / FOLDER / student


def entries(root: Path, student: str, assignment: str) -> list[Entry]:
    """All lines on a student's assignment, oldest first. A line that was cut off is passed over."""
    path = folder_of(root, student) / f"{assignment}.jsonl"
    found = []
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            found.append(msgspec.json.decode(line, type=Entry))
        except (msgspec.DecodeError, ValueError):
            continue
    return found


def record(
    coursedir: Any, assignment: str, student: str, reason: str, digests: Mapping[str, str], note: str = ""
) -> bool:
    """Append what the gradebook says now, if that differs from the last line. Returns whether it did.

    reason: why it changed; for the first line it is `first grading`
    digests: `suite` and `submission`; if they are not given, those of the last line with these points
    """
    root = Path(coursedir.root)
    before = entries(root, student, assignment)
    last = before[-1] if before else None
    marks = _marks(coursedir, assignment, student)
    if marks is None:
        return False
    points, penalty, by_hand = marks
    same = next((one for one in reversed(before) if one.points == points), last)  # as after a regrade was undone
    told = {key: digests.get(key) or (getattr(same, key) if same else "") for key in DIGESTS}
    entry = Entry(
        datetime.now(UTC).replace(microsecond=0), _who(), __version__, reason if last else "first grading",
        points, penalty, by_hand, told["suite"], told["submission"], note,
    )  # fmt: skip
    if last and entry.says_the_same(last) and not note:
        return False
    path = folder_of(root, student) / f"{assignment}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(entry) + b"\n")
    return True


Marks = tuple[dict[str, tuple[float, float]], float, tuple[str, ...]]


def _marks(coursedir: Any, assignment: str, student: str) -> Marks | None:
    """Points, penalty, and what a person gave, from the gradebook; None if it has nothing of this student."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        rows = book.db.execute(_ROWS, {"assignment": assignment, "student": student}).all()
    if not rows:
        return None
    penalties = {row.notebook: row.penalty or 0.0 for row in rows}
    marked = [row for row in rows if row.name is not None and (row.automatic, row.by_hand) != (None, None)]
    points = {row.name.removeprefix(CHECK): (row.score, row.most) for row in marked}
    by_hand = tuple(sorted(row.name.removeprefix(CHECK) for row in marked if row.by_hand is not None))
    return points, sum(penalties.values()), by_hand


# One question for all there is on a submission: by nbgrader's objects it is one for each cell, and twice the time.
# A grade is looked up by its cell and notebook, for which there is an index.
_ROWS = (
    select(
        SubmittedNotebook.id.label("notebook"),
        SubmittedNotebook.late_submission_penalty.label("penalty"),
        BaseCell.name.label("name"),
        Grade.auto_score.label("automatic"),
        Grade.manual_score.label("by_hand"),
        Grade.score.label("score"),
        Grade.max_score.label("most"),
    )
    .select_from(SubmittedAssignment)
    .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    .outerjoin(BaseCell, BaseCell.notebook_id == SubmittedNotebook.notebook_id)
    .outerjoin(Grade, and_(Grade.cell_id == BaseCell.id, Grade.notebook_id == SubmittedNotebook.id))
    .where(Assignment.name == bindparam("assignment"), SubmittedAssignment.student_id == bindparam("student"))
    .order_by(SubmittedNotebook.id, BaseCell.name)
)


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def keep(root: Path, submission: Submission, digests: Mapping[str, str], report: Report) -> None:
    """Keep a submission as it was handed in, and the report on it."""
    notebook = kept_submission(root, submission.student, submission.assignment, digests)
    notebook.parent.mkdir(parents=True, exist_ok=True)
    notebook.write_bytes(read_bytes(submission.path, MAX_BYTES, ""))
    kept = kept_report(root, submission.student, submission.assignment, digests)
    kept.write_bytes(msgspec.json.encode(report.to_dict()))


def kept_submission(root: Path, student: str, assignment: str, digests: Mapping[str, str]) -> Path:
    """Where a submission is kept."""
    return folder_of(root, student) / assignment / f"{digests['submission'][:SHORT]}.ipynb"


def kept_report(root: Path, student: str, assignment: str, digests: Mapping[str, str]) -> Path:
    """Where the report on a submission by a suite is kept."""
    name = "-".join(digests[key][:SHORT] for key in ("submission", "suite"))
    return folder_of(root, student) / assignment / f"{name}.json"


def forget(root: Path, student: str) -> bool:
    """Remove all that is kept about a student here. Returns whether there was anything."""
    saved = (root / gradebook_backup.FOLDER).glob(f"*/*/autograded/{glob.escape(student)}")
    found = [path for path in (folder_of(root, student), *saved) if path.is_dir()]
    for path in found:
        remove_tree(path)
    return bool(found)


def note_by_hand(self: Any, grade_id: str) -> None:
    """formgrader's own, and the history says who has given the grade."""
    _put(self, grade_id)
    grade = self.gradebook.find_grade_by_id(grade_id)
    with contextlib.suppress(OSError, AutograderError):  # the grade is entered; a later line will say so, too
        record(self.coursedir, grade.assignment.name, grade.student.id, BY_HAND, {})


def note_manual_grades() -> None:
    """From now on a grade that is entered in formgrader is in the history."""
    GradeHandler.put = note_by_hand
