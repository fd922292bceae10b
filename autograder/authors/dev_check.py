"""`autograder dev check`: is the course fit for students? Run after every edit.

Each check yields findings, and a finding names the file, the cell and the remedy. What is judged here is trusted: the
course's own stubs, solutions and known mistakes, through the same marking as a student's work.
"""

from __future__ import annotations

import contextlib
import functools
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat

from autograder.authors import new_exercise, upkeep
from autograder.authors.catalogue_page import result_of
from autograder.course import CHECK, RUBRIC, Assignment, Course, rubrics_in
from autograder.diagnosis import prints
from autograder.diagnosis.catalogue import Mistake, read_catalogue
from autograder.errors import CourseError
from autograder.judging.judge import Material, judge
from autograder.marking.desk import Desk, Judges
from autograder.marking.task import Task
from autograder.report import ExerciseResult, Report
from autograder.sandbox.outside.host import isolates
from autograder.submission import MODEL, code_cells, grade_id
from autograder.suites.here import Here, answering
from autograder.suites.questions import parameter_names
from autograder.suites.rehearsal import rehearse
from autograder.suites.student import Student
from autograder.suites.suite import Suite

MISTAKES = 3  # known mistakes an exercise has at least: fewer, and nobody knows what its tests let through
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)\n[ \t]*### END SOLUTION", re.DOTALL)
PAIRS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")  # nbgrader's markers
SKELETON = "(Write here what students need"  # see templates/exercise/text.md
MARKS_OF_SECRETS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "autograder.notebook.stock", "mistakes.py")
HINTS = ("nudge", "closer", "section", "paper", "link")
TELLING = 25  # characters from which on a solution's line is nobody's by chance: `return output` may stand anywhere


@dataclass(frozen=True)
class Finding:
    """Something that is not in order. `cell` is a cell of a notebook, a test or a mistake; empty for a whole file.

    `blocks` is not set for what only waits to be written.
    """

    path: Path
    cell: str
    what: str
    remedy: str
    blocks: bool = True

    def __str__(self) -> str:
        place = f"{self.path}: cell '{self.cell}'" if self.cell else str(self.path)
        return f"{place}: {self.what}. {self.remedy}"


@dataclass(frozen=True)
class Checked:
    """One assignment's findings, and what it was looked at for."""

    name: str
    about: str
    findings: tuple[Finding, ...]

    @property
    def in_order(self) -> bool:
        """Can it be given to students, as far as this can tell?"""
        return not any(finding.blocks for finding in self.findings)


def check_course(course: Course, only: list[str]) -> Iterator[Checked]:
    """Check the assignments named in `only`, or all. Raises `CourseError` if one of them is not there."""
    names = only or list(course.assignments())
    with contextlib.ExitStack() as ends:
        judges = Judges(course.root, isolates("auto")[0])
        desk = Desk(course, judges)
        ends.callback(judges.end)
        ends.callback(desk.end)
        for name in names:
            assignment = course.assignment(name)
            findings = tuple(_all(assignment, desk))
            yield Checked(name, _about(assignment, findings), findings)


def _all(assignment: Assignment, desk: Desk) -> Iterator[Finding]:
    """Every finding; if the files cannot even be read, that one alone."""
    try:
        _ = assignment.exercises  # says in a sentence what keeps the notebook from being read
        source = nbformat.read(assignment.notebook, as_version=4)
        unreleasable = list(can_be_released(assignment, source))
        yield from unreleasable
        if unreleasable:  # nbgrader would end in a traceback
            return
        yield from cells_in_order(assignment, source)
        yield from rubrics(assignment)
        yield from headings(assignment, source)
        yield from left_from_the_skeleton(assignment, source)
        with tempfile.TemporaryDirectory() as folder:
            text = upkeep.release_text(assignment, Path(folder))
        yield from in_step(assignment, text)
        release = nbformat.reads(text, as_version=4)
        yield from no_secret(assignment, source, release)
        yield from no_other_folder(assignment)
        yield from suite_covers(assignment)
        yield from visible_checks(assignment)
        yield from hints(assignment, source)
        yield from known_mistakes(assignment)
        yield from stubs_and_solutions(assignment, source, release, desk)
    except CourseError as error:
        yield Finding(assignment.notebook.parent, "", f"the rest could not be checked: {error}", "Mend this first.")


def _about(assignment: Assignment, findings: tuple[Finding, ...]) -> str:
    if blocking := sum(finding.blocks for finding in findings):
        return f"{blocking} to mend"
    written = sum(_points(c) for c in nbformat.read(assignment.notebook, as_version=4).cells if _by_hand(c))
    mistakes = len(read_catalogue(assignment.mistakes).mistakes)
    number = len(assignment.exercises)
    counted = f"{number} exercise{'s' * (number != 1)}, {assignment.max_score:g} points by tests"
    return f"in order: {counted} and {written:g} by hand, {mistakes} known mistakes"


def can_be_released(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """What nbgrader stumbles over when it releases: a name that two cells have, a marker without its other half."""
    names = Counter(grade_id(cell) for cell in source.cells if grade_id(cell))
    for name in [name for name, count in names.items() if count > 1]:
        remedy = "Give each its own in the Create Assignment panel, or delete the copy."
        yield Finding(assignment.notebook, name, f"{names[name]} cells have this id", remedy)
    for number, cell in enumerate(source.cells, start=1):
        for kind in PAIRS:
            marks = re.findall(rf"### (BEGIN|END) {kind}\b", cell.source)
            if marks != ["BEGIN", "END"] * (len(marks) // 2):
                what = f"### BEGIN {kind} and ### END {kind} do not come in pairs"
                yield Finding(assignment.notebook, grade_id(cell) or f"number {number}", what, "Write the missing one.")


def headings(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """No heading stands twice, and none has the number of another of its level."""
    seen: dict[str, str] = {}
    for cell in source.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            numbered = re.match(r"(#+ )(\d+)\. ", line)
            key = numbered[0] if numbered else line if re.match(r"#+ ", line) else ""
            if key and key in seen:
                what = f"the heading {line!r} has the number, or the words, of {seen[key]!r}"
                yield Finding(
                    assignment.notebook, "", what, "Number it anew; a hint leads to its heading by these words."
                )
            seen.setdefault(key, line)


def left_from_the_skeleton(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """Text of `autograder dev new` that waits to be rewritten."""
    for number, cell in enumerate(source.cells, start=1):
        if SKELETON in cell.source:
            what = "the text of the skeleton is still there"
            yield Finding(
                assignment.notebook, grade_id(cell) or f"number {number}", what, "Write your own.", blocks=False
            )


def cells_in_order(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """Each exercise has its cell with a marked solution, a check cell after it that asks for it, and points."""
    path = assignment.notebook
    places = {grade_id(cell): (index, cell) for index, cell in enumerate(source.cells) if grade_id(cell)}
    for exercise in assignment.exercises:
        index, check = places[CHECK + exercise.name]
        if exercise.points <= 0:
            yield Finding(path, CHECK + exercise.name, f"it is worth {exercise.points:g} points", "Give it some.")
        if not check.source.rstrip().endswith(f'check("{exercise.name}")'):
            yield Finding(
                path, CHECK + exercise.name, "it checks something else", f'Let it end in check("{exercise.name}").'
            )
        if exercise.name not in places or places[exercise.name][0] > index:
            remedy = f"Name the cell with its solution '{exercise.name}' in the Create Assignment panel."
            yield Finding(path, CHECK + exercise.name, "no cell of its exercise comes before it", remedy)
        elif not SOLUTION.search(places[exercise.name][1].source):
            remedy = "Put ### BEGIN SOLUTION and ### END SOLUTION around what students write."
            yield Finding(path, exercise.name, "students would get the solution: no markers", remedy)
    for cell in source.cells:
        if _by_hand(cell) and _points(cell) <= 0:
            yield Finding(path, grade_id(cell), "a question graded by hand is worth nothing", "Give it points.")


def rubrics(assignment: Assignment) -> Iterator[Finding]:
    """A rubric's lines add up to the points of its question, and there is such a question."""
    path, cells = assignment.content / RUBRIC, assignment.graded_cells
    for name, question in assignment.written.items():
        total = sum(points for points, _ in question.rubric)
        if question.rubric and total != cells[name]:
            what = f"its lines add up to {total:g} points, its cell says {cells[name]:g}"
            yield Finding(path, name, what, "Change a line, or the cell's points.")
    for name in sorted(rubrics_in(path).keys() - assignment.written.keys()):
        yield Finding(path, name, "the notebook has no such written question", "Is it a name's typo?")


def _by_hand(cell: Any) -> bool:
    return cell.cell_type == "markdown" and bool(cell.metadata.get("nbgrader", {}).get("grade"))


def _points(cell: Any) -> float:
    return float(cell.metadata["nbgrader"].get("points", 0))


def in_step(assignment: Assignment, release: str) -> Iterator[Finding]:
    """The text twin and the release are what the source notebook gives."""
    released = assignment.root / "assignments" / assignment.name / assignment.notebook.name
    wanted = {assignment.solution: upkeep.twin_text(assignment), released: release}
    for path, text in wanted.items():
        if not path.is_file():
            yield Finding(path, "", "it is missing", "Run `autograder dev sync`.")
        elif path.read_text(encoding="utf-8") != text:
            yield Finding(path, "", f"it is not what {assignment.notebook.name} gives", "Run `autograder dev sync`.")


def no_secret(assignment: Assignment, source: Any, release: Any) -> Iterator[Finding]:
    """No solution, hidden test or private file in what students get."""
    for number, cell in enumerate(release.cells, start=1):
        name = grade_id(cell) or f"number {number}"
        for secret in [*(m for m in MARKS_OF_SECRETS if m in cell.source), *_told(source, cell.source)]:
            yield Finding(assignment.notebook, name, f"students would read {secret!r}", "Keep it between the markers.")
    for path in sorted(assignment.notebook.parent.rglob("*")):
        if (path.suffix == ".py" or path.name == MODEL) and path.is_file():
            yield Finding(path, "", "nbgrader hands every file in this folder to students", "Move it out.")


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.strip().startswith("#")]


def no_other_folder(assignment: Assignment) -> Iterator[Finding]:
    """Each folder with an exercise's files is that of an exercise."""
    names = {exercise.name for exercise in assignment.exercises}
    for folder in sorted({path.parent for name in new_exercise.FILES for path in assignment.content.glob(f"*/{name}")}):
        if folder.name not in names:
            yield Finding(folder, "", "the notebook has no exercise of that name", "Is it a name's typo?")


def suite_covers(assignment: Assignment) -> Iterator[Finding]:
    """Each exercise has hidden tests, in its folder."""
    with Suite(assignment.suites) as suite:
        yield from _in_their_folders(suite, "hidden tests")


def visible_checks(assignment: Assignment) -> Iterator[Finding]:
    """Each exercise has checks that students can run, in its folder, and the solution passes them."""
    with Suite(assignment.visible) as suite:
        yield from _in_their_folders(suite, "visible check")
        for exercise, path in zip(assignment.exercises, suite.paths, strict=True):
            if exercise.name in suite.exercises():
                (result,) = judge(Material(suite), Here(dict(vars(assignment.reference()))), [exercise])
                yield from _lost(path, result, "the solution fails this visible check")


def _in_their_folders(suite: Suite, what: str) -> Iterator[Finding]:
    """A class's marker says which exercise it judges, the folder where a person looks for it."""
    for path in suite.paths:
        name, marked = path.parent.name, {test.exercise for test, place in suite.path_of.items() if place == path}
        for other in sorted(marked - {name}):
            yield Finding(path, other, f"a class is marked {other}, and its folder is {name}", "Give both one name.")
        if name not in marked:
            remedy = f'Write a class marked @pytest.mark.exercise("{name}") there.'
            yield Finding(path, name, f"the exercise has no {what}", remedy)


def hints(assignment: Assignment, source: Any) -> Iterator[Finding]:
    """Each exercise has two hints, a place to read on, and the heading it stands under; none tells the solution."""
    text = "\n".join(cell.source for cell in source.cells if cell.cell_type == "markdown")
    headings = {line.lstrip("# ") for line in text.splitlines() if line.startswith("#")}
    for path in assignment.files("hint.toml"):
        name = path.parent.name
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            what = f'it is missing, so `hint("{name}")` has nothing to say'
            yield Finding(path, "", what, f"Write what it has: {', '.join(HINTS)}.")
            continue
        except ValueError as error:
            yield Finding(path, "", f"it is not TOML ({error})", "Mend that line.")
            continue
        missing = [key for key in HINTS if not str(table.get(key, "")).strip()]
        if missing:
            yield Finding(path, name, f"no {', '.join(missing)}", "Write what is missing.")
        elif table["section"] not in headings:
            what = f"the notebook has no heading {table['section']!r}"
            yield Finding(path, name, what, "Copy the heading above its stub, without the leading #.")
        for line in _told(source, "\n".join(map(str, table.values()))):
            yield Finding(path, name, f"it tells {line!r}", "Ask, or name a place to look.")


def _told(source: Any, text: str) -> list[str]:
    """The solutions' telling lines that stand in `text`."""
    hidden = [line.strip() for cell in source.cells for part in SOLUTION.findall(cell.source) for line in _lines(part)]
    return sorted({line for line in hidden if len(line) > TELLING and line in text})


def known_mistakes(assignment: Assignment) -> Iterator[Finding]:
    """Each exercise has known mistakes with hints, and its tests accept none of them."""
    with Suite(assignment.suites) as suite:
        for path in assignment.mistakes:
            yield from _mistakes_of(path.parent.name, path, assignment, suite)
    kept = assignment.content / prints.FILE
    if kept.exists() and not prints.read(assignment.content):
        what = "is of other catalogues than those beside it, so a mistake's name is looked for and not looked up"
        yield Finding(kept, "", what, "Run `autograder dev catalogue`.", blocks=False)


def _mistakes_of(exercise: str, path: Path, assignment: Assignment, suite: Suite) -> Iterator[Finding]:
    catalogue = read_catalogue([path])
    found = len(catalogue.of(exercise))
    if found < MISTAKES:
        yield Finding(path, exercise, f"{found} known mistakes", f"Enter {MISTAKES - found} more.")
    for mistake in catalogue:
        if not mistake.hint.strip():
            yield Finding(path, mistake.name, "it has no hint", "Ask what to look at, and do not tell the fix.")
        if mistake.exercise != exercise:
            yield Finding(path, mistake.name, f"it is of {mistake.exercise}, and not of {exercise}", "Is it a typo?")
        elif exercise in suite.exercises() and _accepted(assignment, suite, mistake):
            remedy = "Add a test to the suite.py beside it that it fails."
            yield Finding(path, mistake.name, f"the hidden tests of {exercise} accept it", remedy)
    for made in (*catalogue.variants, *catalogue.pairs):
        try:
            _ = made.code
        except Exception as error:
            what = f"the recipe of {made.exercise} makes no code of it ({type(error).__name__}: {error})"
            yield Finding(path, made.name, what, "Does the function take the options of that name?")
            break


def _accepted(assignment: Assignment, suite: Suite, mistake: Mistake) -> bool:
    """Does every test pass? The first that does not ends the search, so this takes a quarter of judging it."""
    reference = vars(assignment.reference())
    words = functools.partial(parameter_names, reference)
    student = Student(answering(dict(reference) | {mistake.exercise: mistake.code}), words)
    right = Student(answering(reference), words)
    tests = [test for test in suite.tests if test.exercise == mistake.exercise]
    if any(suite.run(test, student, right).error for test in tests):
        return False
    # Judging asks some calls again, too: it may keep something between them.
    result = result_of(assignment, Material(suite, reference), mistake)
    return result.score == result.max_score


def stubs_and_solutions(assignment: Assignment, source: Any, release: Any, desk: Desk) -> Iterator[Finding]:
    """As they are handed in: the release is not started anywhere, the source notebook has full marks everywhere."""
    stub, solved = _mark(desk, assignment, release), _mark(desk, assignment, source)
    for result in stub.exercises:
        if result.started:
            remedy = "Its cell should end in the stub: is there code outside the solution's markers?"
            yield Finding(assignment.notebook, result.name, "untouched, it does not count as not started", remedy)
    for result in solved.exercises:
        path = assignment.content / result.name / "suite.py"
        yield from _with_lines(assignment, _lost(path, result, "the solution fails this hidden test"))
        total = sum(test.max_score for test in result.tests)
        if abs(total - result.max_score) > 0.01:
            what = f"its tests add up to {total:g} points, its cell says {result.max_score:g}"
            yield Finding(path, result.name, what, "Are all its weights positive?")


def _with_lines(assignment: Assignment, findings: Iterator[Finding]) -> Iterator[Finding]:
    """The same, each with the line of the suite where the reference fails, if there is any."""
    found = list(findings)
    if not found:
        return
    with Suite(assignment.suites) as suite:
        broken = rehearse(suite, vars(assignment.reference())).broken
    lines = {f"{test.exercise}, {test.name}": where for test, where, _ in broken}
    for one in found:
        where = lines.get(one.cell, "")
        yield replace(one, what=f"{one.what[:-1]}; {where})") if where else one


def _mark(desk: Desk, assignment: Assignment, notebook: Any) -> Report:
    cells = tuple(cell.source for cell in code_cells(notebook))
    return desk.mark(Task("check", assignment.name, assignment.version(), cells, by_author=True)).report


def _lost(path: Path, result: ExerciseResult, what: str) -> Iterator[Finding]:
    for test in result.tests:
        if test.state != "passed":
            said = f"{what} ({test.message.rstrip('.')})"
            yield Finding(path, f"{result.name}, {test.name}", said, "Mend the solution in source/, or the test.")
