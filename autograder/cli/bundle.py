"""`autograder bundle`: what grades an assignment elsewhere.

- Gradescope: a zip with `setup.sh` and `run_autograder` at its root, which grades with the same hidden tests.
  https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50: a script that runs the visible tests; what is in its folder can be read by anybody.
  https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.content import course_folder
from autograder.course import CONFIG, Assignment, Course
from autograder.errors import CourseError
from autograder.reports.marks_file import write
from autograder.secret import FILE as SECRET

TEMPLATES = Path(__file__).parent / "templates"
# What grading needs of the course's folder; no submission, no gradebook, nothing of another assignment.
KIT, OF_ASSIGNMENTS = "autograder", ("source", "solutions")
FILES = (CONFIG, SECRET, "pyproject.toml", "constraints.txt", "README.md", "LICENSE")
LEFT = {"__pycache__", ".ipynb_checkpoints"}


def write_gradescope(
    assignment: Assignment, path: Path, visibility: str = "after_due_date", needs_sandbox: bool = True
) -> None:
    """Write the zip. Raises `CourseError` if the course does not hold the kit itself.

    visibility: when students see their results, in Gradescope's words
    needs_sandbox: grade nothing in a container where student code could read what it is graded by
    """
    if not (assignment.root / "pyproject.toml").is_file() or not (assignment.root / "autograder").is_dir():
        raise CourseError(f"{assignment.root}: a bundle is made in the kit's own repository; this has no autograder/")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in ("setup.sh", "run_autograder"):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr = 0o755 << 16  # both are run, so the zip says that they may be
            text = _filled((TEMPLATES / "gradescope" / name).read_text(encoding="utf-8"), assignment)
            text = text.replace("@VISIBILITY@", visibility).replace(
                "@SANDBOX@", "needed" if needs_sandbox else "wished for"
            )
            bundle.writestr(info, text)
        for file in _files(assignment):
            bundle.write(file, file.relative_to(assignment.root))


def _files(assignment: Assignment) -> Iterator[Path]:
    for name in FILES:
        if (assignment.root / name).is_file():
            yield assignment.root / name
    places = (*OF_ASSIGNMENTS, course_folder(assignment.root).name)
    others = {
        folder
        for place in places
        for folder in (assignment.root / place).glob("*")
        if folder.name != assignment.name and folder.name in Course(assignment.root).assignments()
    }
    for place in (KIT, *places):
        for path in sorted((assignment.root / place).rglob("*")):
            if path.is_file() and not LEFT & set(path.parts) and others.isdisjoint(path.parents):
                yield path


def _filled(text: str, assignment: Assignment) -> str:
    text = text.replace("@COURSE@", course_folder(assignment.root).name)
    return text.replace("@ASSIGNMENT@", assignment.name).replace("@NOTEBOOK@", assignment.notebook.name)


def write_classroom50(assignment: Assignment, folder: Path, requirements: Sequence[str] = ()) -> Path:
    """Write `autograder.py` into a folder. requirements: what pip installs; the wheels beside it if none is named."""
    text = (TEMPLATES / "classroom50.txt").read_text(encoding="utf-8")
    points = ",".join(f"{exercise.name}={exercise.points:g}" for exercise in assignment.exercises)
    text = text.replace("@REQUIREMENTS@", " ".join(requirements)).replace("@POINTS@", points)
    path = folder / "autograder.py"
    write(path, _filled(text, assignment))
    return path
