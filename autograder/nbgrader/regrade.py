"""Regrades: after hidden tests or points have changed, the marks before and after, and writing the new ones.

Comparing reads the gradebook and grades in memory. Writing saves what it changes and then grades into the gradebook.
Manual grades and comments stay, and cells whose automatic score stays do not wait for a person again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course.assignments import WITHDRAWN, Assignment, Course, withdrawn_as_text
from autograder.course.source_notebook import check_cell, exercise_name
from autograder.discovery import submission_in
from autograder.errors import AutograderError, CourseError
from autograder.nbgrader import gradebook_backup, history, must
from autograder.nbgrader.gradebook_rows import NO_MARK, CellMark, CellMarks, graded_points, penalty_in, take_over_points
from autograder.nbgrader.outcomes import SubmissionOutcome
from autograder.nbgrader.totals import extra_credit, penalty_of
from autograder.nbgrader.whole_class import grade_into_gradebook
from autograder.reading import write_whole
from autograder.report import Report
from autograder.reports.rubric import total
from autograder.reports.store import SetAside
from autograder.text import shown_name
from autograder.worker.pool import OnWait, grade, open_pool

MarkChange = tuple[str, CellMark, CellMark]  # an exercise, its mark before and its mark after


@dataclass(frozen=True)
class MarksComparison:
    """The marks of one student before and after, and the penalties for late work.

    problem: why they could not be graded again
    withdrawn: exercises that are withdrawn afterwards: what a person gave there does not count
    """

    student: str
    before: CellMarks
    after: CellMarks
    problem: str | None = None
    penalties: tuple[float, float] = (0.0, 0.0)
    withdrawn: Collection[str] = ()

    @property
    def totals(self) -> tuple[float, float]:
        """The points that count, before and after."""
        before, after = self.penalties
        return total(_sum(self.before), before), total(_sum(self.after), after)

    @property
    def gain(self) -> float:
        """The points gained; negative if points are lost."""
        before, after = self.totals
        return round(after - before, 2)

    @property
    def maxima(self) -> tuple[float, float]:
        """All points there are, before and after."""
        before, after = (sum(mark.max_score for mark in marks.values()) for marks in (self.before, self.after))
        return before, after

    @property
    def parts(self) -> tuple[float, float]:
        """What exercises gain, and what others lose, without penalties; a sum of both may hide either."""
        moved = [after.score - before.score for _, before, after in self.changes]
        return sum(max(0.0, points) for points in moved), -sum(min(0.0, points) for points in moved)

    @property
    def changes(self) -> list[MarkChange]:
        """The marks whose automatic score or maximum has changed, even if a manual grade hides it."""
        return [
            (exercise_name(name), self.before[name], mark)
            for name, mark in self.after.items()
            if mark != self.before[name]
        ]

    @property
    def moves_points(self) -> bool:
        """True if an exercise has other points now."""
        return any(before.max_score != after.max_score for _, before, after in self.changes)


def _sum(marks: CellMarks) -> float:
    return sum(mark.score for mark in marks.values())


def compare(
    course: Course, assignment: Assignment, nbgrader: Any, jobs: int, sandbox: str, only: str, on_wait: OnWait
) -> list[MarksComparison]:
    """The marks of each graded student, or of `only`, in the gradebook and as grading gives them now.

    Raises `AutograderError` if there are none.
    """
    coursedir, graded, compared = nbgrader.coursedir, history.Graded(nbgrader.coursedir, assignment), []
    before = graded.marks
    students = _students(before, assignment, only)
    folders = [coursedir.format_path(coursedir.submitted_directory, one, assignment.name) for one in students]
    submissions = [submission_in(one, Path(folder), assignment) for one, folder in zip(students, folders, strict=True)]
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        found = [book.find_submission(assignment.name, student) for student in students]
        late = [(submission.total_seconds_late, penalty_in(submission)) for submission in found]
    with contextlib.closing(open_pool(course.root, len(students), jobs, sandbox, on_wait=on_wait)) as workers:
        results = grade(submissions, course, workers, assignment.exercises)
        for student, marked, (seconds, penalty) in zip(students, results, late, strict=True):
            set_aside = graded.made(student).set_aside
            one = _comparison(student, before[student], marked.report, assignment, set_aside)
            now, after = penalty, penalty
            with contextlib.suppress(CourseError):  # writing names those whom the plugin for late work hinders
                now, after = (penalty_of(nbgrader, student, _sum(each), seconds) for each in (one.before, one.after))
            compared.append(replace(one, penalties=(now, after)))
    return compared


def _students(graded: Collection[str], assignment: Assignment, only: str) -> list[str]:
    """Whom to compare. Raises `AutograderError` if nobody, or not `only`, is graded."""
    if not graded:
        raise AutograderError(
            f"nobody's {assignment.name} is graded yet; run `nbgrader generate_assignment {assignment.name}` if it is "
            f"not released, then `nbgrader autograde {assignment.name}`"
        )
    if only and only not in graded:
        raise AutograderError(f"{shown_name(only)} has no marks in {assignment.name}")
    return [only] if only else sorted(graded)


def _comparison(
    student: str, before: CellMarks, report: Report, assignment: Assignment, set_aside: Mapping[str, SetAside]
) -> MarksComparison:
    """set_aside: the earlier marks of exercises that are now withdrawn"""
    if report.reason:
        return MarksComparison(student, before, before, report.reason)
    cells = assignment.graded_cells  # also those that a person grades
    new = {check_cell(exercise.name, cells): exercise for exercise in report.exercises}
    before = {**before, **{name: NO_MARK for name in new if name not in before}}
    after = {}
    for name, mark in before.items():
        if name in new:
            _, extra = set_aside.get(name, (None, mark.extra))
            points = new[name].max_score
            extra = extra_credit(mark.manual, extra, points, new[name].name in assignment.withdrawn) or 0.0
            after[name] = CellMark(new[name].score, mark.manual, extra, points)
        else:
            after[name] = replace(mark, max_score=cells.get(name, mark.max_score))
    return MarksComparison(student, before, after, withdrawn=assignment.withdrawn)


def write(
    course: Course,
    nbgrader: Any,
    assignment: Assignment,
    compared: Sequence[MarksComparison],
    sandbox: str,
    settings: Mapping[str, object],
    on_wait: OnWait,
    on_graded: Callable[[SubmissionOutcome], None],
) -> list[str]:
    """Save the marks, and grade into the gradebook again.

    settings: traits of `Autograde`
    Returns the students who could not be graded.
    """
    students = [each.student for each in compared if each.problem is None]
    gradebook_backup.save(nbgrader.coursedir, assignment.name, students)
    if any(each.moves_points for each in compared):
        must(nbgrader.generate_assignment(assignment.name), f"take over the points of {assignment.notebook}")
        take_over_points(nbgrader.coursedir, assignment)
    settings = {"force": True, "accept_changes": True, "saved": True, "only": students, **settings}
    outcomes = grade_into_gradebook(course, [assignment], settings, sandbox, on_graded=on_graded, on_wait=on_wait)
    failed = [outcome.student for outcome in outcomes if outcome.reason and outcome.student in students]
    for student in failed:  # some fail when their marks are in the gradebook, such as by a plugin for late work
        with contextlib.suppress(OSError):  # of the folder in autograded/; that may be why grading failed
            gradebook_backup.restore(nbgrader.coursedir, assignment.name, student)
    return failed


def undo(coursedir: Any, assignment: Assignment) -> list[str]:
    """Restore what the last regrade changed. Returns the students."""
    students = gradebook_backup.undo(coursedir, assignment.name)
    for student in students:
        with contextlib.suppress(OSError):  # the marks are restored; a later entry will contain them
            history.record(coursedir, assignment.name, student, "regrade undone")
    return students


def somebody_has_marks(coursedir: Any, assignment: Assignment) -> bool:
    """True if somebody has marks in this assignment."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return bool(graded_points(book, assignment.name))


@contextlib.contextmanager
def withdrawal_written(assignment: Assignment) -> Iterator[None]:
    """Write an assignment's withdrawn exercises into the file, and take that back if what is done inside fails."""
    path = assignment.root / WITHDRAWN
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    write_whole(path, withdrawn_as_text({**Course(assignment.root).withdrawn, assignment.name: assignment.withdrawn}))
    try:
        yield
    except BaseException:
        if before is None:
            path.unlink()
        else:
            write_whole(path, before)
        raise
