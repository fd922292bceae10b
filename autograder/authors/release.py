"""`autograder dev dist`: what stands beside a release for students without a hub.

`make dist` builds wheel and sdist first. Beside them come notebooks that begin with one more cell, which installs the
wheel where it is missing, and a list of what is in the packages, so that anybody can see that no suite is. A course of
its own also has its checks and hints there, for the wheel holds the kit's.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder import __version__, content
from autograder.course import Assignment, Course
from autograder.errors import CourseError

TEMPLATE = Path(__file__).parent / "templates" / "release" / "first_cell.txt"
ID = "get-the-kit"  # of the first cell; nbgrader knows no such cell and leaves it alone
LIST = "CONTENTS.txt"
# Of an assignment's content, what students have.
VISIBLE = ("shared_visible.py", "shared_picture.py", "*/visible.py", "*/hint.toml", "*/picture.py")
# What a package for students never holds.
SECRET = re.compile(
    r"(attention|content)/([^/]+/([^/]+/)?((shared_)?(suite|mistakes)\.py|(rubric|left_to_grading)\.toml|prints\.npz)$"
    r"|hidden/)|^(solutions|source|assignments|tests)/"
)


def first_cell(wheel: str, address: str = "") -> str:
    """The cell's text. wheel: a file beside the notebook; address: where pip gets it if that is not there."""
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("@VERSION@", __version__).replace("@WHEEL@", wheel).replace("@ADDRESS@", address).rstrip()


def write_release(course: Course, folder: Path, address: str = "") -> Iterator[Path]:
    """Write notebooks and list into `folder`, where the packages are; yields each file written.

    Raises `CourseError` if there is no wheel of this version, or a package holds what students must not have.
    """
    wheels = sorted(folder.glob(f"*-{__version__}-py3-none-any.whl"))
    if not wheels:
        raise CourseError(f"{folder}: no wheel of version {__version__}; `make dist` builds it")
    packages = [wheels[0], *sorted(folder.glob(f"*-{__version__}.tar.gz"))]
    lines = [f"commit {_commit(course.root)}"]
    for package in packages:
        lines += ["", f"{_digest(package.read_bytes())}  {package.name}"]
        for name, data in members(package):
            if SECRET.search(name):
                raise CourseError(f"{package}: {name} is in it, which students must not have; see pyproject.toml")
            lines.append(f"{_digest(data)}    {name}")
    path = folder / LIST
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    yield path
    for assignment in course.assignments().values():
        released = course.root / "assignments" / assignment.name / assignment.notebook.name
        notebook = nbformat.read(released, as_version=4)
        cell = nbformat.v4.new_code_cell(first_cell(wheels[0].name, address), id=ID)
        notebook.cells.insert(0, cell)
        path = folder / assignment.notebook.name
        nbformat.write(notebook, path)
        yield path
        if assignment.content.is_relative_to(course.root / content.PLACES[0]):
            yield from _visible(assignment, folder / content.PLACES[0])


def _visible(assignment: Assignment, folder: Path) -> Iterator[Path]:
    """Copy what students have of an assignment's content."""
    for path in [path for name in VISIBLE for path in sorted(assignment.content.glob(name))]:
        copy = folder / assignment.name / path.relative_to(assignment.content)
        copy.parent.mkdir(parents=True, exist_ok=True)
        yield Path(shutil.copy(path, copy))


def members(package: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files in a wheel or an sdist, in order of names; without an sdist's own top folder."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            yield from ((name, wheel.read(name)) for name in sorted(wheel.namelist()))
        return
    with tarfile.open(package) as sdist:
        for member in sorted(sdist.getmembers(), key=lambda one: one.name):
            file = sdist.extractfile(member)
            if file is not None:
                yield member.name.partition("/")[2], file.read()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _commit(root: Path) -> str:
    """The commit the packages are built from, marked if something was changed since; empty without git."""
    words = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
