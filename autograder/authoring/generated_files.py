"""Generates files from `source/`, scripts in `solutions/` and releases in `assignments/`, and some visible tests.

Visible tests are written from the tables of hidden tests with the flag `cases(..., visible=True)`.
"""

from __future__ import annotations

import ast
import itertools
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat

from autograder.authoring.problems import Problem
from autograder.course.assignments import TWICE, Assignment, Course
from autograder.course.loading import COURSE
from autograder.course.source_notebook import CHECK_PREFIX, DISPLAY_TAG, remembered
from autograder.errors import CourseError
from autograder.nbgrader import api, error_line
from autograder.submission import grade_id
from autograder.testing.suite import Suite
from cellcage.values.value_type import by_tag, described

FLAG = "visible=True"
HEAD = '"""Visible tests, written by `autograder dev sync` from the cases that the hidden tests mark as visible."""'
IMPORTS = "import numpy as np\nimport pytest\nfrom numpy import array, inf, nan\n"
ALLOWED = {"np", "array", "inf", "nan"}
# Further names that a case may use, with their imports.
OTHERS = {"deque": "from collections import deque"}
# nbgrader's markers, with the key of the cells that may have them, and what its panel calls such a cell.
PAIRS = {
    "SOLUTION": ("solution", "an answer"),
    "HIDDEN TESTS": ("grade", "tests"),
    "MARK SCHEME": ("task", "a task"),
}
SCHEMA = 3  # of nbgrader's metadata


def sync(course: Course) -> Iterator[Path]:
    """Write every generated file that differs from what `source/` gives now; yields each file written."""
    course = Course(course.root)
    texts = ((path, text.encode()) for path, text in generated(course))
    for path, data in itertools.chain(texts, copies(course.assignments.values())):
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            with remembered(course.root, [path] if path.suffix == ".ipynb" else []):
                path.write_bytes(data)
            yield path


def copies(assignments: Iterable[Assignment]) -> Iterator[tuple[Path, bytes]]:
    """The files beside the source notebooks, with their paths beside the releases, where students get them."""
    for assignment in assignments:
        for name, data in assignment.beside.items():
            yield assignment.released.parent / name, data


def generated(course: Course) -> Iterator[tuple[Path, str]]:
    """Path and text of every generated file."""
    for assignment in course.assignments.values():
        yield assignment.solution, paired_script(assignment)
        yield from visible_files(assignment)
    with tempfile.TemporaryDirectory() as folder:
        for assignment in course.assignments.values():
            yield assignment.released, release_text(assignment, Path(folder))


def paired_script(assignment: Assignment) -> str:
    """The source notebook as Python text (jupytext's percent format), by the settings in `pyproject.toml`.

    Check cells are left out, as are cells tagged `active-ipynb`: a script has nothing to check.
    """
    import jupytext
    from jupytext.config import load_jupytext_config

    checks = {CHECK_PREFIX + exercise.name for exercise in assignment.by_suite}  # raises if the notebook cannot be read
    notebook = nbformat.read(assignment.notebook, as_version=4)
    for cell in notebook.cells:
        if grade_id(cell) in checks:
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), DISPLAY_TAG})
    text: str = jupytext.writes(notebook, fmt="py:percent", config=load_jupytext_config(str(assignment.notebook)))
    return text


def release_text(assignment: Assignment, folder: Path) -> str:
    """The notebook that nbgrader releases to students, generated below `folder` without a gradebook."""
    shutil.copytree(assignment.notebook.parent, folder / "source" / assignment.name)
    settings = assignment.content.parent / COURSE
    if settings.is_file():  # what it says to students is in the release
        (folder / settings.parent.name).mkdir(exist_ok=True)
        shutil.copy(settings, folder / settings.parent.name)
    result = api(folder).generate_assignment(assignment.name)
    if not result["success"]:
        found = next(can_be_released(assignment, nbformat.read(assignment.notebook, as_version=4)), None)
        reason = f"{assignment.notebook}: nbgrader cannot release it: {error_line(result)}"
        raise CourseError(str(found).rstrip(".") if found else reason)
    released = folder / "assignments" / assignment.name / assignment.notebook.name
    return released.read_text(encoding="utf-8")


def visible_files(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Path and text of each generated file; files written by hand are left alone.

    Raises `CourseError` if a table contains a value that cannot be written as code.
    """
    for hidden, path in zip(assignment.suites, assignment.visible, strict=True):
        by_hand = path.is_file() and not path.read_text(encoding="utf-8").startswith(HEAD)
        if hidden.is_file() and FLAG in hidden.read_text(encoding="utf-8") and not by_hand:
            yield path, _visible_tests(hidden, assignment)


def _visible_tests(hidden: Path, assignment: Assignment) -> str:
    name = hidden.parent.name
    suite = Suite([hidden])
    tests = {test.name: test.code for test in suite.tests}
    tests = {key: test for key, test in tests.items() if getattr(test, "visible", False)}
    right = getattr(assignment.reference(), name, None)
    lines = [f'@pytest.mark.exercise("{name}")', "class TestVisible:"]
    for key, test in tests.items():
        cases = [_case(case, right, hidden) for case in test.table]
        lines += [f"    {key} = cases(", f"        {test.__doc__!r},", "        ["]
        lines += [*(f"            {case}," for case in cases), "        ],", f"        {test.hint!r},", "    )"]
    used = [line for word, line in _imports().items() if any(re.search(rf"\b{word}[.(]", text) for text in lines)]
    head = [HEAD, "", *used, IMPORTS, "from autograder.testing import cases", "", ""]
    return "\n".join([*head, *lines]) + "\n"


def _imports() -> dict[str, str]:
    """Lines that import what a case may use, by the name used."""
    found = dict(OTHERS)
    for value_type in by_tag().values():
        found |= value_type.imports
    return found


def _code(value: Any) -> str:
    """A value as code."""
    if type(value) is tuple:
        return f"({''.join(f'{_code(item)}, ' for item in value).rstrip()})"
    found = described(value)
    return repr(value) if found is None else found[0].code(found[1])


def _case(case: tuple[Any, ...], right: Any, hidden: Path) -> str:
    given, *expected = case
    if not expected:
        expected = [right(*given) if isinstance(given, tuple) else right(given)]
    error = expected[0].__name__ if isinstance(expected[0], type) else ""
    text = f"({_code(given)}, {error or _code(expected[0])})"
    try:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    except SyntaxError:
        names = {text}  # which is no name, so it is not allowed either
    if names - ALLOWED - _imports().keys() - {error}:
        raise CourseError(f"{hidden}: a visible case holds what cannot be written down: {text}")
    return text


# ---------------------------------------------------------------- what nbgrader cannot release


def named_cells(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Each cell with its grade_id, or else its first line and the heading above it: JupyterLab shows no numbers."""
    heading = ""
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()] or ["(an empty cell)"]
        headings = [line for line in lines if cell.cell_type == "markdown" and line.startswith("#")]
        above, heading = heading, headings[-1] if headings else heading
        is_heading = lines[0] in headings or not above
        yield grade_id(cell) or (lines[0] if is_heading else f"{lines[0]}, below {above}"), cell


def can_be_released(assignment: Assignment, source: Any) -> Iterator[Problem]:
    """What nbgrader fails at when it releases: metadata of an older version, an id of two cells, markers without a
    counterpart or in a cell of another kind.
    """
    settings = [cell.metadata["nbgrader"] for cell in source.cells if "nbgrader" in cell.metadata]
    if any(one.get("schema_version", 0) < SCHEMA for one in settings):
        remedy = f"Run `nbgrader update {assignment.notebook.parent}`."
        yield Problem(assignment.notebook, "", "its nbgrader metadata are of an older version", remedy)
    names = Counter(grade_id(cell) for cell in source.cells if grade_id(cell))
    for name, count in names.items():
        if count > 1:
            what, _, remedy = TWICE.format(count=count).partition(". ")
            yield Problem(assignment.notebook, name, what, f"{remedy}.")
    for name, cell in named_cells(source):
        own = cell.metadata.get("nbgrader", {})
        for kind, (key, called) in PAIRS.items():
            marks = re.findall(rf"### (BEGIN|END) {kind}\b", cell.source)
            if marks != ["BEGIN", "END"] * (len(marks) // 2):
                what = f"### BEGIN {kind} and ### END {kind} do not come in pairs"
                yield Problem(assignment.notebook, name, what, "Write the missing one.")
            elif marks and not own.get(key):
                what = f"it has ### BEGIN {kind}, and nbgrader does not know it as {called}"
                remedy = "Say what the cell is in the Create Assignment panel, or remove the markers."
                yield Problem(assignment.notebook, name, what, remedy)
