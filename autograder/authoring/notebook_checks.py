"""Checks of `autograder dev check` that only read: the notebook, its release, its rubric, its hints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from autograder.authoring.generated_files import copies, named_cells, paired_script, visible_files
from autograder.authoring.problems import Problem
from autograder.authoring.skeletons import EXERCISE_FILES
from autograder.course.assignments import WITHDRAWN, Assignment
from autograder.course.content import RUBRIC, Hint
from autograder.course.source_notebook import CHECK_PREFIX
from autograder.errors import CourseError
from autograder.reading import read_toml
from autograder.submission import grade_id

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)\n[ \t]*### END SOLUTION", re.DOTALL)
SKELETON = "(Write here what students need"  # see templates/exercise/text.md
MARKS_OF_SECRETS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "autograder.student.stock", "mistakes.py")
HINTS = ("nudge", "closer", "section")
OWN_NAMES = ("calls", "value")  # see `testing.functions.Functions`
IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)  # modules that a notebook imports
_RESULT = re.compile(r"^(?:return|yield|[\w, ]+ [-+*/@]?=) +")
TELLING = 25  # characters of a solution's line, at least, to be recognised; `return output` may stand anywhere


def headings(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """No heading occurs twice or has the number of another heading of its level."""
    seen: dict[str, str] = {}
    for cell in source.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            numbered = re.match(r"(#+ )(\d+)\. ", line)
            key = numbered[0] if numbered else line if re.match(r"#+ ", line) else ""
            if key and key in seen:
                what = f"the heading {line!r} has the number, or the words, of {seen[key]!r}"
                remedy = "Renumber it; a hint finds its heading by these words."
                yield Problem(assignment.notebook, "", what, remedy)
            seen.setdefault(key, line)


def left_from_the_skeleton(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """Text of `autograder dev new` that the author must still rewrite."""
    for name, cell in named_cells(source):
        if SKELETON in cell.source:
            what = "the text of the skeleton is still there"
            yield Problem(assignment.notebook, name, what, "Write your own.", blocks=False)


def exercises_have_cells(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """Each exercise has a cell with its solution, and each folder of hidden tests a check cell that uses them."""
    there = set(map(grade_id, source.cells))
    for name in [exercise.name for exercise in assignment.by_suite if exercise.name not in there]:
        remedy = f"Name the cell with its solution '{name}' in the Create Assignment panel."
        yield Problem(assignment.notebook, CHECK_PREFIX + name, "no cell of its exercise comes before it", remedy)
    for name in assignment.source.assert_cells:
        if (assignment.content / name / "hidden_tests.py").is_file():
            what = f'it does not end in check("{name}"), so the hidden tests in {name}/ are not used'
            remedy = "Let it end so, and put asserts into hidden_tests.py."
            yield Problem(assignment.notebook, CHECK_PREFIX + name, what, remedy)


def cells_in_order(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """Each exercise has a cell with a marked solution, points, and then a check cell that checks it."""
    path = assignment.notebook
    places = {grade_id(cell): (index, cell) for index, cell in enumerate(source.cells) if grade_id(cell)}
    for exercise in assignment.by_suite:
        name, check_id = exercise.name, CHECK_PREFIX + exercise.name
        index, check = places[check_id]
        if name in OWN_NAMES:
            what = f"`student.{name}` means something else in tests"
            yield Problem(path, check_id, what, "Give the exercise another name.")
        if exercise.points <= 0 and not exercise.withdrawn:
            yield Problem(path, check_id, f"it is worth {exercise.points:g} points", "Give it some.")
        if not check.source.rstrip().endswith(f'check("{name}")'):
            yield Problem(path, check_id, "it checks something else", f'Let it end in check("{name}").')
        if name in places and places[name][0] > index:
            remedy = f"Name the cell with its solution '{name}' in the Create Assignment panel."
            yield Problem(path, check_id, "no cell of its exercise comes before it", remedy)
        elif name in places and not SOLUTION.search(places[name][1].source):
            remedy = "Put ### BEGIN SOLUTION and ### END SOLUTION around what students write."
            yield Problem(path, name, "students would get the solution: no markers", remedy)
    for name in assignment.written:
        if assignment.graded_cells[name] <= 0:
            yield Problem(path, name, "a question graded by hand is worth nothing", "Give it points.")


def names_in_files(assignment: Assignment) -> Iterator[Problem]:
    """A rubric belongs to a written question, and adds up to its points. What is withdrawn is an exercise."""
    path, cells = assignment.content / RUBRIC, assignment.graded_cells
    for name, question in assignment.written.items():
        total = sum(points for points, _ in question.rubric)
        if question.rubric and total != cells[name]:
            what = f"its lines add up to {total:g} points, its cell says {cells[name]:g}"
            yield Problem(path, name, what, "Change a line, or the cell's points.")
    for name in sorted(assignment.rubrics.keys() - assignment.written.keys()):
        yield Problem(path, name, "the notebook has no such written question", "Is it a name's typo?")
    for name in sorted(assignment.withdrawn.keys() - {exercise.name for exercise in assignment.exercises}):
        path = assignment.root / WITHDRAWN
        yield Problem(path, name, f"it is no exercise of {assignment.name}", "Is it a name's typo?")


def in_step(assignment: Assignment, release: str) -> Iterator[Problem]:
    """All generated files are up to date with the source notebook."""
    wanted = {assignment.solution: paired_script(assignment), assignment.released: release}
    wanted |= dict(visible_files(assignment))
    for path, text in wanted.items():
        if not path.is_file():
            yield Problem(path, "", "it is missing", "Run `autograder dev sync`.")
        elif path.read_text(encoding="utf-8") != text:
            yield Problem(path, "", f"it is not what {assignment.notebook.name} gives", "Run `autograder dev sync`.")
    for path, data in copies([assignment]):
        if not path.is_file() or path.read_bytes() != data:
            yield Problem(path, "", "it is not the file beside the source notebook", "Run `autograder dev sync`.")


def no_secret(assignment: Assignment, source: Any, release: Any) -> Iterator[Problem]:
    """The release contains no solution, hidden test or private file."""
    for name, cell in named_cells(release):
        for secret in [*(m for m in MARKS_OF_SECRETS if m in cell.source), *_leaked(source, cell.source)]:
            yield Problem(assignment.notebook, name, f"students would read {secret!r}", "Keep it between the markers.")
    code = "\n".join(cell.source for cell in release.cells if cell.cell_type == "code")
    imported = set(IMPORTED.findall(code))
    folder = assignment.notebook.parent
    for path in sorted(folder.rglob("*")):
        is_private = path.suffix == ".py" and path.relative_to(folder).with_suffix("").parts[0] not in imported
        if is_private and path.is_file():
            yield Problem(path, "", "nbgrader hands every file in this folder to students", "Move it out.")


def no_other_folder(assignment: Assignment) -> Iterator[Problem]:
    """Each folder with an exercise's files belongs to an exercise of the notebook."""
    names = {exercise.name for exercise in assignment.by_suite}
    for folder in sorted({path.parent for name in EXERCISE_FILES for path in assignment.content.glob(f"*/{name}")}):
        if folder.name not in names:
            yield Problem(folder, "", "the notebook has no exercise of that name", "Is it a name's typo?")


def hints(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """Each exercise has two hints and a heading. No hint contains the solution."""
    text = "\n".join(cell.source for cell in source.cells if cell.cell_type == "markdown")
    headings = {line.lstrip("# ") for line in text.splitlines() if line.startswith("#")}
    for path in assignment.files("hint.toml"):
        name = path.parent.name
        try:
            table = read_toml(path, dict[str, str])
        except CourseError as error:
            yield Problem(path, "", str(error).removeprefix(f"{path}: "), "Fix that line.")
            continue
        if not path.is_file():
            what = f'it is missing, so `hint("{name}")` has nothing to say'
            yield Problem(path, "", what, f"Write what it has: {', '.join(HINTS)}.", blocks=False)
            continue
        for key in sorted(table.keys() - set(Hint.__struct_fields__)):
            yield Problem(path, name, f"there is no {key!r} in a hint", "Is it a name's typo?")
        missing = [key for key in HINTS if not str(table.get(key, "")).strip()]
        if missing:
            yield Problem(path, name, f"no {', '.join(missing)}", "Write what is missing.")
        elif table["section"] not in headings:
            what = f"the notebook has no heading {table['section']!r}"
            yield Problem(path, name, what, "Copy the heading above its stub, without the leading #.")
        for line in _leaked(source, "\n".join(map(str, table.values())), parts=True):
            yield Problem(path, name, f"it gives {line!r} away", "Ask, or name a place to look.")


def _leaked(source: Any, text: str, parts: bool = False) -> list[str]:
    """The characteristic lines of the solutions, without comments, that `text` contains.

    parts: also what a line returns or what it sets a name to
    """
    solutions = (part for cell in source.cells for part in SOLUTION.findall(cell.source))
    lines = {line.strip() for part in solutions for line in part.splitlines()}
    if parts:
        lines |= {_RESULT.sub("", line) for line in lines}
    return sorted(line for line in lines if len(line) > TELLING and line[0] != "#" and line in text)
