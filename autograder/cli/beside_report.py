"""What the class report shows beside its numbers: everybody's marks, links to feedback pages, samples of code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from autograder.errors import SubmissionError
from autograder.report import Report
from autograder.reports.class_report import Beside
from autograder.reports.roster import with_absent
from autograder.submission import read_notebook
from autograder.text import printable

SAMPLE_LINES = 30  # of a sample; an exercise has ten
NOTEBOOKS = 5  # of one student's folder that are looked into


def what_is_beside(
    reports: Sequence[Report],
    everybody: Sequence[str],
    page: Path | None,
    submitted: Path | None,
    feedback: Path | None,
    told: Mapping[tuple[str, str], str],
    notebooks: Mapping[str, str],
) -> Beside:
    """Gather it.

    page: where the report goes; submitted, feedback: folders laid out STUDENT/ASSIGNMENT, if given
    notebooks: the name of each assignment's notebook, which its feedback page has, too
    told: what the gradebook says beside marks
    """
    whole = with_absent(reports, everybody)
    scores = {(r.assignment, r.student): None if r.reason else r.score for r in whole}
    pages = dict(_pages(whole, feedback, page.resolve().parent, notebooks)) if feedback and page else {}
    samples = dict(_samples(reports, submitted)) if submitted else {}
    return Beside(scores, pages, samples, told)


def _pages(
    reports: Sequence[Report], feedback: Path, place: Path, notebooks: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Addresses of pages that were made of the course's notebook; no other file in that folder is linked to."""
    for report in reports:
        folder = feedback / report.student / report.assignment
        name = f"{notebooks.get(report.assignment, '')}.html"
        path = folder.resolve() / name
        if _is_below(folder, feedback) and path.is_file() and not path.is_symlink():
            yield (report.assignment, report.student), quote(os.path.relpath(path, place))


def _samples(reports: Sequence[Report], submitted: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Code of exercises that lost marks, as text that nobody runs. Comments are left out: a name may stand there."""
    for report in reports:
        lost = {e.name for e in report.exercises if e.started and e.score < e.max_score}
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
    """A student's id in a marks file may be anything, `..` too."""
    return folder.resolve().is_relative_to(root.resolve()) and folder.is_dir()


def _sample(source: str) -> str:
    lines = [line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    cut = lines[:SAMPLE_LINES] + (["..."] if len(lines) > SAMPLE_LINES else [])
    return "\n".join(printable(line.expandtabs(4)) for line in cut)
