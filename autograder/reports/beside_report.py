"""What the class report shows beside its numbers: each student's marks, links to feedback pages, samples of code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from autograder.course import find_course
from autograder.errors import SubmissionError
from autograder.report import Report
from autograder.reports.class_report import Beside
from autograder.reports.roster import with_absent
from autograder.submission import read_notebook
from autograder.text import printable

SAMPLE_LINES = 30  # of a sample; an exercise has about ten
NOTEBOOKS = 5  # of a student's folder that are read


def what_is_beside(
    reports: Sequence[Report],
    everybody: Sequence[str],
    page: Path,
    submitted: Path | None,
    feedback: Path | None,
    notes: Mapping[tuple[str, str], str],
) -> Beside:
    """Collect it for the reports, and for everybody who has none.

    page: where the class report is written; links are relative to it
    submitted, feedback: folders laid out STUDENT/ASSIGNMENT, if given
    notes: the gradebook's remarks on marks, by assignment and student
    """
    whole = with_absent(reports, everybody)
    scores = {(report.assignment, report.student): None if report.reason else report.score for report in whole}
    pages = dict(_pages(whole, feedback, page.resolve().parent)) if feedback else {}
    samples = dict(_samples(reports, submitted)) if submitted else {}
    return Beside(scores, pages, samples, notes)


def _pages(reports: Sequence[Report], feedback: Path, place: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """The address of each student's feedback page, relative to `place`. Other files in the folder are not linked."""
    notebooks = {name: assignment.notebook.stem for name, assignment in find_course().assignments().items()}
    for report in reports:
        folder = feedback / report.student / report.assignment
        path = folder.resolve() / f"{notebooks.get(report.assignment, '')}.html"
        if _is_below(folder, feedback) and path.is_file() and not path.is_symlink():
            yield (report.assignment, report.student), quote(os.path.relpath(path, place))


def _samples(reports: Sequence[Report], submitted: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """The code of exercises that lost marks, as text. Comments are left out, since they may hold a student's name."""
    for report in reports:
        lost = {one.name for one in report.exercises if one.started and one.score < one.max_score}
        folder = submitted / report.student / report.assignment
        if not lost or not _is_below(folder, submitted):
            continue
        for path in sorted(folder.glob("*.ipynb"))[:NOTEBOOKS]:
            try:
                cells = read_notebook(path).cells
            except SubmissionError:
                continue
            for cell in cells:
                if cell.grade_id in lost and cell.cell_type == "code":
                    yield (report.assignment, cell.grade_id, report.student), _sample(cell.source)


def _is_below(folder: Path, root: Path) -> bool:
    """True if `folder` is a folder below `root`. A student's id in a marks file may be anything, such as `..`."""
    return folder.resolve().is_relative_to(root.resolve()) and folder.is_dir()


def _sample(source: str) -> str:
    lines = [line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    cut = lines[:SAMPLE_LINES] + (["..."] if len(lines) > SAMPLE_LINES else [])
    return "\n".join(printable(line.expandtabs(4)) for line in cut)
