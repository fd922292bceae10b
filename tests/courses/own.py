"""Build a course from texts: a notebook as in `classic.py`, and suites and other files by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import nbformat

from autograder.authoring.generated_files import sync
from autograder.authoring.skeletons import TEMPLATES
from autograder.course.assignments import CONFIG, Course
from autograder.report import Report
from autograder.submission import NotebookFile, code_cells, grade_id
from autograder.task import Task
from tests.courses.classic import notebook_of
from tests.helpers.sandboxes import Sandbox

IMPORTS = "#% code\nimport math\nimport random\n\nimport numpy as np\n\nfrom autograder import check\n"
NONE = MappingProxyType({})
SUITE = "import numpy as np\nimport pytest\n\nfrom autograder.testing import expect\n\n"


def exercise(name: str, solution: str, points: float = 2) -> str:
    """The two cells of an exercise."""
    return f'\n#% solution {name}\n{solution.strip()}\n\n#% tests test-{name} {points}\ncheck("{name}")\n'


def course_of(root: Path, name: str, cells: str, files: Mapping[str, str], data: Mapping[str, bytes] = NONE) -> Course:
    """A synced course with one assignment; `files` go into its folder, `data` beside its notebook."""
    content = root / f"{root.name}_course"
    (root / "source" / name).mkdir(parents=True)
    (root / CONFIG).write_text((TEMPLATES / "course" / "nbgrader_config.txt").read_text())
    (content / name).mkdir(parents=True)
    (content / "course.toml").write_text('[names]\nnp = "numpy"\n')
    nbformat.write(notebook_of(cells), root / "source" / name / f"{name}.ipynb")
    for path, text in files.items():
        (content / name / path).parent.mkdir(exist_ok=True)
        (content / name / path).write_text(text)
    for path, content in data.items():
        (root / "source" / name / path).parent.mkdir(exist_ok=True)
        (root / "source" / name / path).write_bytes(content)
    list(sync(Course(root)))
    return Course(root)


def graded(sandbox: Sandbox, course: Course, name: str, answers: Mapping[str, str]) -> Report:
    """The report of the release with `answers` (cells by grade_id), graded in the sandbox."""
    assignment = course.assignment(name)
    notebook = nbformat.read(course.root / "assignments" / name / assignment.notebook.name, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    task = Task("ada", name, assignment.version)
    cells = code_cells(NotebookFile.of(notebook.cells), assignment.source.locked_cells)
    return sandbox.worker(course).mark(task.of(cells)).report


def points_and_messages(report: Report) -> dict[str, tuple[float, str]]:
    """For each exercise its points, and its hint and messages as one text."""
    assert not report.reason, report.reason
    return {
        one.name: (one.score, " ".join([one.hint, *(test.message for test in one.tests)])) for one in report.exercises
    }
