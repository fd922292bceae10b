"""Finds in the site what students must not have: hidden tests, known mistakes, model answers."""

from __future__ import annotations

import html
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.authoring.release import SECRET
from autograder.course.assignments import Course

SHORTEST = 40  # characters of a line that can only come from where it stands
SECRET_FILES = ("a*/**/*hidden_tests.py", "a*/**/*mistakes.py", "hidden/*.py", "helpers/copycat_training.py")
BEGIN, END = "### BEGIN ", "### END "


def found(course: Course, folder: Path) -> Iterator[str]:
    """A sentence for each file of the folder that holds a secret. Looks into wheels, archives and notebooks, too."""
    secret = secret_lines(course)
    for name, data in every_file(folder):
        if SECRET.search(name.rpartition("!")[2]):
            yield f"{name} is a file that students must not have"
        elif lines := secret.keys() & set(_lines(name, data)):
            line = min(lines)
            yield f"{name} holds a line of {secret[line]}: {line}"


def every_file(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of all files, and of the files in archives, whose name follows a `!`."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield from _opened(path.relative_to(folder).as_posix(), path.read_bytes())


def _opened(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _opened(f"{name}!{member}", archive.read(member))


def secret_lines(course: Course) -> dict[str, str]:
    """Long lines of hidden tests, known mistakes and model answers, each with the file that it is from.

    A line that students have from elsewhere, such as from a visible test or a released notebook, is no secret.
    """
    home = next(path.parent for path in course.root.glob("*/course.toml"))
    secret: dict[str, str] = {}
    for pattern in SECRET_FILES:
        for path in sorted(home.glob(pattern)):
            secret |= dict.fromkeys(_long(path.read_text(encoding="utf-8").splitlines()), str(path.name))
    public: set[str] = set()
    for assignment in course.assignments.values():
        secret |= dict.fromkeys(_long(_solution(assignment.notebook)), f"the model answer of {assignment.name}")
        public |= set(_lines("x.ipynb", assignment.released.read_bytes()))
    for path in (*home.glob("a*/**/*visible_tests.py"), *home.glob("helpers/*.py"), *home.glob("*.py")):
        if path.name != "copycat_training.py":
            public |= set(path.read_text(encoding="utf-8").splitlines())
    for path in (
        *course.root.glob("autograder/**/*.py"),
        *course.root.glob("autograder/**/*.txt"),
        *course.root.glob("cellcage/src/**/*.py"),
    ):
        public |= set(path.read_text(encoding="utf-8").splitlines())
    for line in {line.strip() for line in public}:
        secret.pop(line, None)
    return secret


def _solution(notebook: Path) -> Iterator[str]:
    """The lines between the markers that nbgrader removes from a notebook."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        inside = False
        for line in "".join(cell["source"]).splitlines():
            inside = inside or line.strip().startswith(BEGIN)
            if inside:
                yield line
            inside = inside and not line.strip().startswith(END)


def _long(lines: Iterable[str]) -> Iterator[str]:
    for line in map(str.strip, lines):
        if len(line) >= SHORTEST and not line.startswith(("from ", "import ", "@", "#")):
            yield line


def _lines(name: str, data: bytes) -> Iterator[str]:
    """The lines of a file without their margins; of a notebook, those of its cells, too."""
    text = data.decode("utf-8", "replace")
    if name.endswith(".html"):
        text = html.unescape(text)
    yield from map(str.strip, text.splitlines())
    if name.endswith(".ipynb"):
        for cell in json.loads(text).get("cells", ()):
            yield from map(str.strip, "".join(cell["source"]).splitlines())
