"""`autograder report`: how a class is doing, as a page, CSV, JSON, or in the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import jinja2
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.assignments import find_course
from autograder.errors import CourseError, SubmissionError
from autograder.report import Report
from autograder.reports.class_statistics import AssignmentRate, MistakeCount, bin_names
from autograder.reports.equal_work import Code, equal_work, written_by_the_course
from autograder.reports.marks_file import as_csv
from autograder.reports.roster import with_absent
from autograder.reports.rubric import points
from autograder.submission import read_notebook
from autograder.text import json_text, printable, shown_name

TEMPLATES = Path(__file__).parent / "templates"
ROWS = 8  # of a list in the terminal; the page shows all
SHOWN = 5  # entries of a list that the page shows; the rest is folded
SAMPLE_LINES, SAMPLE = 30, 5_000  # lines and characters of a sample; an exercise has about ten lines
NOTEBOOKS = 5  # of a student's folder that are read
CSV_HEAD = ("assignment", "kind", "exercise", "name", "count", "of", "share", "detail")


def percent(share: float) -> str:
    """A share of 0 to 1 as text: 67 %."""
    return f"{100 * share:.0f} %"


@dataclass(frozen=True)
class Beside:
    """Optional contents of the page beside the statistics.

    scores: points by (assignment, student); None for a submission without points
    pages: addresses of feedback pages by (assignment, student)
    samples: code by (assignment, exercise, student)
    remarks: the gradebook's remarks on late work and manual grades, by (assignment, student)
    equal: students whose code is equal apart from names, see `equal_work`
    """

    scores: Mapping[tuple[str, str], float | None]
    pages: Mapping[tuple[str, str], str]
    samples: Mapping[tuple[str, str, str], str]
    remarks: Mapping[tuple[str, str], str]
    equal: Mapping[str, Sequence[tuple[str, Sequence[str]]]]

    def remarks_in(self, assignment: str) -> list[tuple[str, str]]:
        """The gradebook's remarks on an assignment, as (student, remark)."""
        return sorted((student, text) for (name, student), text in self.remarks.items() if name == assignment)

    @property
    def students(self) -> list[str]:
        """All students, in order of their names."""
        return sorted({student for _, student in self.scores}, key=str.casefold)

    def sample(self, assignment: str, exercise: str, students: Sequence[str]) -> str:
        """The shortest code of any of `students`; empty if there is none."""
        found = [self.samples.get((assignment, exercise, student), "") for student in students]
        return min(filter(None, found), key=len, default="")


def what_is_beside(
    reports: Sequence[Report],
    everybody: Sequence[str],
    page: Path,
    submitted: Path | None,
    feedback: Path | None,
    remarks: Mapping[tuple[str, str], str],
) -> Beside:
    """Collect what the page shows beside its numbers, for the reports and for everybody who has none.

    page: where the class report is written; links are relative to it
    submitted, feedback: folders laid out STUDENT/ASSIGNMENT, if given
    remarks: the gradebook's on marks, by assignment and student
    """
    whole = with_absent(reports, everybody)
    scores = {(report.assignment, report.student): None if report.reason else report.score for report in whole}
    pages = dict(_pages(whole, feedback, page.resolve().parent)) if feedback else {}
    sources = list(_sources(reports, submitted)) if submitted else []
    lost = {
        (report.assignment, one.name, report.student)
        for report in reports
        for one in report.exercises
        if one.score < one.max_score
    }
    # Comments are left out of samples, since they may hold a student's name.
    samples = {place: _sample(source) for place, source in sources if place in lost}
    return Beside(scores, pages, samples, remarks, _equal(sources) if sources else {})


def _equal(sources: Sequence[tuple[Code, str]]) -> Mapping[str, Sequence[tuple[str, Sequence[str]]]]:
    """`equal_work` in the course's own assignments, whose model answers are known."""
    try:
        assignments = find_course().assignments
    except CourseError:
        return {}
    present = {assignment for (assignment, _, _), _ in sources} & assignments.keys()
    known = set[str]().union(*(written_by_the_course(assignments[name]) for name in present))
    return equal_work(((code, source) for code, source in sources if code[0] in present), known)


def _pages(reports: Sequence[Report], feedback: Path, place: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """The address of each student's feedback page, relative to `place`. Other files in the folder are not linked."""
    notebooks = {name: assignment.notebook.stem for name, assignment in find_course().assignments.items()}
    for report in reports:
        folder = feedback / report.student / report.assignment
        path = folder.resolve() / f"{notebooks.get(report.assignment, '')}.html"
        if _is_below(folder, feedback) and os.path.isfile(path) and not os.path.islink(path):
            yield (report.assignment, report.student), quote(os.path.relpath(path, place))


def _sources(reports: Sequence[Report], submitted: Path) -> Iterator[tuple[Code, str]]:
    """The code of exercises that were started, as text."""
    for report in reports:
        started = {one.name for one in report.exercises if one.started}
        folder = submitted / report.student / report.assignment
        if not started or not _is_below(folder, submitted):
            continue
        for path in sorted(folder.glob("*.ipynb"))[:NOTEBOOKS]:
            try:
                cells = read_notebook(path).cells
            except SubmissionError:
                continue
            for cell in cells:
                if cell.grade_id in started and cell.cell_type == "code":
                    yield (report.assignment, cell.grade_id, report.student), cell.source


def _is_below(folder: Path, root: Path) -> bool:
    """True if `folder` is a folder below `root`. A student's id in a marks file may be anything, such as `..`."""
    return folder.resolve().is_relative_to(root.resolve()) and os.path.isdir(folder)


def _sample(source: str) -> str:
    lines = [line for line in source[:SAMPLE].splitlines() if line.strip() and not line.lstrip().startswith("#")]
    cut = lines[:SAMPLE_LINES] + (["..."] if len(lines) > SAMPLE_LINES or len(source) > SAMPLE else [])
    return "\n".join(printable(line.expandtabs(4)) for line in cut)


def as_html(assignments: Sequence[AssignmentRate], beside: Beside) -> str:
    """The page, self-contained: it has no script and fetches nothing, and every text is escaped."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["shown_name"] = shown_name
    page = environment.get_template("class_report.html")
    helpers = {"bin_names": bin_names(), "points": points, "percent": percent, "shown": SHOWN, "again": again}
    return page.render(assignments=assignments, beside=beside, **helpers)


def as_json(assignments: Sequence[AssignmentRate]) -> str:
    """The statistics as JSON."""
    return json_text([assignment.to_dict() for assignment in assignments])


def as_table(assignments: Sequence[AssignmentRate]) -> str:
    """The statistics as CSV, with a row for each number; `kind` says which number it is."""
    return as_csv(CSV_HEAD, (row for assignment in assignments for row in _rows(assignment)))


def _rows(a: AssignmentRate) -> Iterator[tuple[object, ...]]:
    for name, count in zip(bin_names(), a.bins, strict=True):
        yield a.name, "marks", "", name, count, a.graded, _share(count, a.graded), ""
    for exercise in a.exercises:
        mean = f"{points(exercise.mean)} of {points(exercise.max_score)} points on average of those who started"
        share = round(exercise.share, 4)
        yield a.name, "exercise", exercise.name, exercise.name, exercise.full, exercise.started, share, mean
        for kind in ("deviation", "discrimination"):
            value = getattr(exercise, kind)
            yield a.name, kind, exercise.name, exercise.name, "", "", "" if value is None else value, ""
        for test in exercise.tests:
            share = round(test.share, 4)
            judged = test.passed + test.failed
            yield a.name, "test", exercise.name, test.name, test.passed, judged, share, test.sentence
    for mistake in a.mistakes:
        share = _share(mistake.count, a.graded)
        yield a.name, "mistake", mistake.exercise, mistake.name, mistake.count, a.graded, share, mistake.hint
    for alike in a.alike:
        share = _share(alike.count, a.graded)
        yield a.name, "alike", alike.exercise, "", alike.count, a.graded, share, alike.message
    for one in a.shared:
        yield a.name, "shared answer", one.exercise, one.test, one.count, one.of, _share(one.count, one.of), str(one)
    for row in a.attention:
        yield a.name, "attention", "", row.student, "", "", "", row.why


def _share(count: int, of: int) -> float:
    return round(count / of, 4) if of else 0.0


def show(assignments: Sequence[AssignmentRate], console: Console) -> None:
    """Print the most important numbers to a terminal; the page has all."""
    for a in assignments:
        console.print(Text(f"\n{a.name}", style="bold"))
        console.print(Text(_numbers(a)))
        for one in a.shared:
            console.print(Text(printable(str(one))), soft_wrap=True)
        if a.graded:
            console.print(_exercise_table(a))
        if a.mistakes:
            console.print(_mistake_table(a))
        console.print(_attention_table(a) if a.attention else Text("Nobody needs attention."))


def _numbers(a: AssignmentRate) -> str:
    parts = [f"{a.graded} graded"] + ([f"{a.failed} could not be graded"] if a.failed else [])
    if a.mean is not None and a.median is not None:
        parts.append(f"average {points(a.mean)} of {points(a.max_score)}, median {points(a.median)}")
    return ", ".join(parts)


def _exercise_table(a: AssignmentRate) -> Table:
    columns = ("exercise", ""), ("average", "right"), ("full marks", "right")
    rows = ((Text(e.name), f"{points(e.mean)} / {points(e.max_score)}", str(e.full)) for e in a.exercises)
    return _table("Exercises", columns, rows)


def _mistake_table(a: AssignmentRate) -> Table:
    columns = ("mistake", ""), ("exercise", ""), ("students", "right"), ("who", "")
    rows = ((Text(m.name), Text(m.exercise), str(m.count), Text(_who(m))) for m in a.mistakes[:ROWS])
    return _table("Most common mistakes", columns, rows)


def again(mistake: MistakeCount) -> str:
    """`again in row_centred: 9`: where else the same students make the mistake; empty if nowhere."""
    elsewhere = ", ".join(f"{exercise}: {count}" for exercise, count in mistake.again)
    return f"again in {elsewhere}" if elsewhere else ""


def _who(mistake: MistakeCount) -> str:
    """One student who makes the mistake, and where else the same students make it."""
    return "; ".join(filter(None, (f"such as {shown_name(mistake.students[0])}", again(mistake))))


def _attention_table(a: AssignmentRate) -> Table:
    rows = ((Text(shown_name(row.student)), Text(row.why)) for row in a.attention)
    return _table("Students who need attention", (("student", ""), ("why", "")), rows)


def _table(title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table. `Text` cells hold text from submissions: rich reads no markup in them, and they are made printable."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, title_style="")
    for name, justify in columns:
        table.add_column(name, justify="right" if justify else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell.plain)) if isinstance(cell, Text) else cell for cell in row))
    return table
