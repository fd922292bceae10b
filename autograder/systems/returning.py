"""`autograder return`: marks and feedback pages back to where the submissions came from.

The names in the downloaded zip say whose a file is. A system reads the same names when a zip is uploaded to it, so each
page gets the name that the notebook had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course.assignments import Assignment
from autograder.errors import AutograderError
from autograder.nbgrader.gradebook_export import GradingStatus, grading_statuses
from autograder.nbgrader.totals import assign_penalties, still_open
from autograder.nbgrader.whole_class import old_pages, with_pages
from autograder.reports.rubric import total
from autograder.systems import find_system
from autograder.systems.collecting import GROUPS, Handed, collected_as
from autograder.systems.system import Return, StudentMarks, System
from autograder.text import shown_name


def give_back(
    nbgrader: Any,
    assignment: Assignment,
    name: str,
    marks_file: Path | None,
    pages: Path | None,
    options: Mapping[str, str],
) -> tuple[list[str], list[str]]:
    """Write marks and feedback pages for the system of this name.

    Returns a sentence on each thing that does not go back, or that a teacher should know.
    Raises `AutograderError` if the system cannot take this back.
    """
    nbgrader.coursedir.assignment_id = assignment.name
    folder = Path(nbgrader.coursedir.root, "downloaded", assignment.name, "extracted")
    ours: System = find_system(name)(parent=nbgrader, extracted=str(folder))
    if reason := ours.why_not(marks_file is not None, pages is not None, options):
        raise AutograderError(reason)
    handed, unknown = ours.with_numbers(_handed_in(ours, assignment), options)
    _check_numbers(handed)
    assign_penalties(nbgrader, assignment)
    found = Return(nbgrader, assignment, handed, _marks_in_gradebook(nbgrader, assignment), options)
    missing = [f"not collected, so nothing goes back: {sentence}" for sentence in ours.left]
    missing += [*unknown, *_without_marks(found)]
    notices = list(_to_know(found))
    if marks_file is not None:
        notices += ours.write_marks(found, marks_file)
    if pages is not None:
        old = len(old_pages(nbgrader.coursedir, assignment.name))
        failed = with_pages(nbgrader, assignment.name, [])
        missing += [f"{shown_name(one.student)} has no feedback page: {one.no_feedback}" for one in failed]
        if count := old - len(failed):
            notices.append(f"feedback pages that were missing or did not show the present marks, now made: {count}")
        graded = {marks.student for marks in found.marks if marks.score is not None}  # of the others we have said why
        pageless = (student for student in ours.write_pages(found, pages) if student in graded)
        missing += [f"{one} has no feedback page; autograder grade --gradebook --feedback" for one in pageless]
    return missing, notices


def _marks_in_gradebook(nbgrader: Any, assignment: Assignment) -> list[StudentMarks]:
    """Everybody's marks in the gradebook, with manual grades, less penalties for late work."""
    coursedir = nbgrader.coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as book:
        return [_marks(status) for status in grading_statuses(book, coursedir) if status.assignment == assignment.name]


def _marks(status: GradingStatus) -> StudentMarks:
    person, problem, score = status.student, status.problem, None
    name = ", ".join(word for word in (person.last_name, person.first_name) if word) or person.id
    if status.submission is not None:
        notebooks = status.submission.notebooks
        score = round(sum(total(n.score, n.late_submission_penalty) for n in notebooks), 2)
        problem = problem or still_open(notebooks)
    return StudentMarks(person.id, name, score, status.max_score, problem)


def _handed_in(ours: System, assignment: Assignment) -> Handed:
    """Each student as the owner of a notebook, by what `nbgrader zip_collect` has unpacked.

    Raises `AutograderError` if nothing comes from this system.
    """
    found: Handed = {}
    for path, owner in ours.sorted_out.taken.items():
        is_ours = collected_as(owner) == assignment.notebook.name
        for student in owner.students:
            if path.suffix == ".ipynb" and (is_ours or student not in found):
                found[student] = replace(owner, student=student)
    if not found:
        raise AutograderError(
            f"{ours.extracted}: nothing that {ours.title} has named; download the submissions there, and collect them "
            f"with nbgrader zip_collect {assignment.name}{''.join(f'; {sentence}' for sentence in ours.left[:1])}"
        )
    return found


def _check_numbers(handed: Handed) -> None:
    """Raise `AutograderError` if two students have the same number: one would get the other's marks."""
    by_number = defaultdict[str, list[str]](list)
    for student, owner in handed.items():
        by_number[owner.number].append(student)
    for number, students in by_number.items():
        if number and len(students) > 1:
            raise AutograderError(
                f"{' and '.join(map(shown_name, students))} would both go back as number {number}, so nothing is "
                f"written; correct the wrong name in downloaded/, or in {GROUPS}, and collect again"
            )


def _without_marks(found: Return) -> Iterator[str]:
    """A sentence for each student who has handed in there but has no marks."""
    known = {marks.student for marks in found.marks}
    yield from (
        f"{marks.student}: {marks.problem}"
        for marks in found.marks
        if marks.score is None and marks.student in found.handed
    )
    yield from (f"{student}: not in the gradebook yet" for student in found.handed if student not in known)


def _to_know(found: Return) -> Iterator[str]:
    """A sentence for each student whose marks are not final, or who handed in elsewhere."""
    for marks in found.marks:
        if marks.score is not None and marks.student not in found.handed:
            yield f"{marks.student} has marks, but is not among the downloaded submissions"
        elif marks.score is not None and marks.problem:
            yield f"{marks.student}: {marks.problem}"
