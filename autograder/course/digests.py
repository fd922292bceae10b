"""Digests: of all that a mark can depend on, and of what students got in each release of a notebook.

A student keeps the notebook of an earlier release. If the course mends a word, the old text in it is still not the
student's own. `earlier_releases.txt` beside `nbgrader_config.py` holds a digest of each text that a new release has
replaced. It belongs to the course, so commit it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import cellcage
from autograder.course.source_notebook import notebook_at
from autograder.errors import CourseError
from autograder.text import squeezed

STAMPED = (".py", ".toml", ".html", ".md", ".txt", ".yml")  # file types of the engine's code and of courses' content
RUBRIC = "rubric.toml"  # for people who grade; no test's mark depends on it
# What `course.toml` says to students, with the comment above it: no mark depends on it either.
FOR_STUDENTS = re.compile(
    rb'(?:^\#[^\n]*\n)*^(?:contact|help)[ \t]*=[ \t]*(?:"""(?s:.*?)"""|"[^"\n]*")[^\n]*\n\n?', re.MULTILINE
)
EARLIER = "earlier_releases.txt"
_HEAD = "# Written when a release is replaced: students keep notebooks with these texts. Commit this file."
_LETTERS = 12  # of a digest; a course with 10,000 texts has two alike once in five million courses


CellText = tuple[str, str, str]  # a cell's type, its grade_id (empty if it has none), and its text


def digest_of(
    files: Sequence[Path], folder: Path, others: Collection[str], parts: Sequence[str] = ("",), more: str = ""
) -> str:
    """A digest of `files`, of the content of the assignment in `folder` and of all assignments, and of the engine.

    others: names of the other assignments, whose own content does not count
    parts: the folders of the engine and the sandbox that count; "" is all of them
    more: what else counts, as a text
    """
    digest = hashlib.sha256("".join(map(_kit_version, parts)).encode() + more.encode())
    of_others = {folder.parent / name for name in others}
    shared = [path for path in folder.parent.rglob("*") if of_others.isdisjoint(path.parents)]
    for path in sorted([*files, *filter(is_stamped, shared)]):
        name = f"{path.parent.name}/{path.name}"
        data = path.read_bytes() if path.is_file() else b""
        digest.update(name.encode() + b"\0" + (FOR_STUDENTS.sub(b"", data) if path.name == "course.toml" else data))
    return digest.hexdigest()


def is_stamped(path: Path) -> bool:
    """True if a mark can depend on this file of a course or of the engine."""
    return path.suffix in STAMPED and path.name != RUBRIC


@functools.cache
def _kit_version(part: str) -> str:
    """A digest of a part of the engine's and the sandbox's code, read once: the running code does not change either."""
    digest = hashlib.sha256()
    for kit in (Path(__file__).parents[1], Path(cellcage.__file__).parent):
        for path in sorted(filter(is_stamped, (kit / part).rglob("*"))):
            digest.update(path.relative_to(kit).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def text_digest(text: str, name: str = "") -> str:
    """The digest of a cell's text, without differences of white space. name: the grade_id; empty for any cell"""
    return _digest("cell", name, squeezed(text))


def line_digest(line: str) -> str:
    """The digest of a line of code."""
    return _digest("line", "", line.strip())


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:_LETTERS]


def digests_of(cells: Iterable[CellText]) -> set[str]:
    """The digests of these cells: of each text, of it with its name, and of each line of code."""
    found = set[str]()
    for kind, name, text in cells:
        found |= {text_digest(text), text_digest(text, name)}
        if kind == "code":
            found |= set(map(line_digest, text.splitlines()))
    return found


def released_digests(root: Path, released: Path) -> frozenset[str]:
    """The digests of all releases of a notebook; empty if there was none. released: the present one"""
    return _present(released) | _earlier(root / EARLIER, released.parent.name)


def _present(path: Path) -> frozenset[str]:
    try:
        cells = notebook_at(path).cells
    except CourseError:
        return frozenset()
    return frozenset({text_digest(""), *digests_of((cell.cell_type, cell.grade_id, cell.text) for cell in cells)})


def _earlier(path: Path, assignment: str) -> set[str]:
    """An assignment's digests in the course's file, if there is one."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    found = (line.rpartition(" ") for line in lines)
    return {digest for name, _, digest in found if name == assignment}


@contextlib.contextmanager
def remembered(root: Path, notebooks: Iterable[Path]) -> Iterator[None]:
    """In the block, these releases may be written: what they replace goes into the file of the course at `root`."""
    before = {path: _present(path) for path in notebooks}
    try:
        yield
    finally:
        file = root / EARLIER
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        known = {line for line in lines if not line.startswith("#")}
        replaced = ((path.parent.name, digests - _present(path)) for path, digests in before.items())
        new = {f"{name} {digest}" for name, digests in replaced for digest in digests} - known
        if new:
            file.write_text("\n".join([_HEAD, *sorted(known | new), ""]), encoding="utf-8")
