"""`autograder bundle`: what grades an assignment elsewhere.

- Gradescope: a zip with `setup.sh` and `run_autograder` at its root, which grades with the same hidden tests.
  https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50: a script that runs the visible tests; what is in its folder can be read by anybody.
  https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import metadata, requires, version
from pathlib import Path

import autograder
from autograder.content import course_folder
from autograder.course import CONFIG, Assignment, Course
from autograder.reports.marks_file import write
from autograder.secret import FILE as SECRET

TEMPLATES = Path(__file__).parent / "templates"
# What grading needs of the course's folder; no submission, no gradebook, nothing of another assignment.
OF_ASSIGNMENTS, OF_COURSE = ("source", "solutions"), (CONFIG, SECRET)
# The kit, from which the platform installs it: its repository, or the package alone if it came as a wheel.
KIT, DISTRIBUTION = Path(autograder.__file__).parent, "sandboxed-autograder"
PROJECT, OF_KIT = "pyproject.toml", ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
LEFT = {"__pycache__", ".ipynb_checkpoints"}


def write_gradescope(
    assignment: Assignment, path: Path, visibility: str = "after_due_date", needs_sandbox: bool = True
) -> None:
    """Write the zip, of this course, whatever it is about, and of the kit that is running.

    visibility: when students see their results, in Gradescope's words
    needs_sandbox: grade nothing in a container where student code could read what it is graded by
    """
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
        for file in _kit():
            bundle.write(file, file.relative_to(KIT.parent))
        if not _has_repository():
            bundle.writestr(PROJECT, _project())
            bundle.writestr("constraints.txt", "")


def _has_repository() -> bool:
    project = KIT.parent / PROJECT
    return project.is_file() and f'name = "{DISTRIBUTION}"' in project.read_text(encoding="utf-8")


def _kit() -> Iterator[Path]:
    yield from (KIT.parent / name for name in OF_KIT if _has_repository() and (KIT.parent / name).is_file())
    yield from _below(KIT)


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not LEFT & set(path.parts))


def _project() -> str:
    """The `pyproject.toml` that the kit was built with, as far as its wheel says."""
    needed: dict[str, list[str]] = {}
    for one in requires(DISTRIBUTION) or ():
        what, _, condition = one.partition(";")
        extra = re.search(r"extra == ['\"](\w+)", condition)
        needed.setdefault(extra[1] if extra else "", []).append(what.strip())
    extras = "".join(f"{name} = {json.dumps(what)}\n" for name, what in needed.items() if name)
    return (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        f'[project]\nname = "{DISTRIBUTION}"\nversion = "{version(DISTRIBUTION)}"\n'
        f'requires-python = "{metadata(DISTRIBUTION)["Requires-Python"]}"\n'
        f"dependencies = {json.dumps(needed.get('', []))}\n\n[project.optional-dependencies]\n{extras}\n"
        '[tool.hatch.build.targets.wheel]\npackages = ["autograder"]\n'
    )


def _files(assignment: Assignment) -> Iterator[Path]:
    for name in OF_COURSE:
        if (assignment.root / name).is_file():
            yield assignment.root / name
    places = (*OF_ASSIGNMENTS, course_folder(assignment.root).name)
    others = {
        folder
        for place in places
        for folder in (assignment.root / place).glob("*")
        if folder.name != assignment.name and folder.name in Course(assignment.root).assignments()
    }
    for place in places:
        yield from (path for path in _below(assignment.root / place) if others.isdisjoint(path.parents))


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
