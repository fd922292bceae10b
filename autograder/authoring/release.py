"""`autograder dev dist`: a release for students without a hub.

`make dist` first builds the wheels: of the sandbox, of the engine, and of the course for students. This adds notebooks
with one more cell at the top, which installs the wheels if they are missing, and for notebooks on GitHub a link to
Colab. It also adds a list of the wheels' contents, so that anybody can see that they contain no hidden tests.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat

from autograder.course import content
from autograder.course.assignments import Course
from autograder.errors import CourseError

TEMPLATE = Path(__file__).parent / "templates" / "release" / "first_cell.txt"
ID, COLAB_ID = "get-the-kit", "open-in-colab"  # of the first cells; nbgrader ignores them
# A folder of a branch: the only kind of address that Colab opens notebooks from.
GITHUB = re.compile(
    r"https://(?:raw\.githubusercontent\.com/([\w.-]+/[\w.-]+)|github\.com/([\w.-]+/[\w.-]+)/raw)/(?:refs/heads/)?([\w./-]+)"
)
LIST = "CONTENTS.txt"
# Files that no student may get: hidden tests, known mistakes, their shared files, and the notebooks' solutions.
SECRET = re.compile(
    r"^[^/]+_course/([^/]+/([^/]+/)?((\w+_)?(hidden_tests|mistakes)\.py|(rubric|not_shown)\.toml|fingerprints\.npz)$"
    r"|hidden/)|^(solutions|source|assignments|tests)/"
)


def first_cell(wheels: Sequence[str], needed: Mapping[str, str], address: str = "") -> str:
    """The text of the first cell.

    wheels: names of files beside the notebook
    needed: versions by module; a wheel's may be a later build of the version in its code, such as `0.1.0.post7`
    address: the folder from which pip installs the wheels if they are not beside the notebook
    """
    text = TEMPLATE.read_text(encoding="utf-8").replace("@ADDRESS@", address)
    return text.replace("@WHEELS@", repr(list(wheels))).replace("@NEEDED@", repr(dict(needed))).rstrip()


def colab_link(address: str, name: str) -> str:
    """Where Colab opens the notebook of this name, if `address` is a folder of a branch on GitHub; else empty."""
    found = GITHUB.fullmatch(address)
    if not found:
        return ""
    repository, folder = found[1] or found[2], found[3].rstrip("/")
    return f"https://colab.research.google.com/github/{repository}/blob/{folder}/{name}"


def write_release(course: Course, folder: Path, address: str = "") -> Iterator[Path]:
    """Write the notebooks and the list into `folder`, which holds the wheels; yields each file written.

    Raises `CourseError` if a wheel is missing or contains files that students must not get.
    """
    home = content.course_folder(course.root)
    wheels = {path: dict(members(path)) for path in sorted(folder.glob("*.whl"))}
    needed = {}
    sources = {"autograder": "the engine's repository", "cellcage": "cellcage/ of it", home.name: str(home)}
    for package, source in sources.items():
        wheel = next((path for path, files in wheels.items() if f"{package}/__init__.py" in files), None)
        if wheel is None:
            raise CourseError(
                f"{folder}: no wheel with {package}; pip wheel --no-deps --wheel-dir {folder} {source} makes it"
            )
        needed[package] = wheel.name.split("-")[1]
    lines = [f"commit {_commit(course.root)}"]
    for wheel, files in wheels.items():
        lines += ["", f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}"]
        for name, data in files.items():
            if SECRET.search(name):
                raise CourseError(f"{wheel}: {name} is in it, which students must not have; see its pyproject.toml")
            lines.append(f"{hashlib.sha256(data).hexdigest()}    {name}")
    path = folder / LIST
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    yield path
    for assignment in course.assignments.values():
        notebook = nbformat.read(assignment.released, as_version=4)
        cell = nbformat.v4.new_code_cell(first_cell([path.name for path in wheels], needed, address), id=ID)
        notebook.cells.insert(0, cell)
        path = folder / assignment.notebook.name
        if link := colab_link(address, path.name):
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell(f"[Open in Colab]({link})", id=COLAB_ID))
        nbformat.write(notebook, path)
        yield path
    yield from _beside(course, folder)


def _beside(course: Course, folder: Path) -> Iterator[Path]:
    """Copy the files beside the notebooks. Raises `CourseError` if two assignments' files of one name differ."""
    found = dict[str, bytes]()
    for assignment in course.assignments.values():
        for name, data in assignment.beside.items():
            if found.setdefault(name, data) != data:
                raise CourseError(
                    f"{assignment.notebook.parent / name}: another assignment has another file of this name"
                )
    for name, data in found.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield path


def members(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files in a wheel, sorted by name."""
    with zipfile.ZipFile(wheel) as archive:
        yield from ((name, archive.read(name)) for name in sorted(archive.namelist()))


def _commit(root: Path) -> str:
    """The current commit, marked as dirty if files have changed; empty without git."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
