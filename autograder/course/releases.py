"""What students got, in each release of a notebook: digests of its cells and of its lines of code.

A student keeps the notebook of an earlier release. If the course mends a word, the old text in it is still not the
student's own. `earlier_releases.txt` beside `nbgrader_config.py` holds a digest of each text that a new release has
replaced. It belongs to the course, so commit it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from autograder.course.source_notebook import notebook_at
from autograder.errors import CourseError
from autograder.text import squeezed

FILE = "earlier_releases.txt"
_HEAD = "# Written when a release is replaced: students keep notebooks with these texts. Commit this file."
_LETTERS = 12  # of a digest; a course with 10,000 texts has two alike once in five million courses


CellText = tuple[str, str, str]  # a cell's type, its grade_id (empty if it has none), and its text


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
    return _present(released) | _earlier(root / FILE).get(released.parent.name, frozenset())


def _present(path: Path) -> frozenset[str]:
    try:
        return _digests_at(path, path.stat().st_mtime_ns)
    except (OSError, CourseError):
        return frozenset()


@functools.lru_cache
def _digests_at(path: Path, changed: int) -> frozenset[str]:
    cells = notebook_at(path).cells
    return frozenset({text_digest(""), *digests_of((cell.cell_type, cell.grade_id, cell.text) for cell in cells)})


def _earlier(path: Path) -> Mapping[str, frozenset[str]]:
    """By assignment the digests in the course's file."""
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return {}


@functools.lru_cache(4)
def _read(path: Path, changed: int) -> Mapping[str, frozenset[str]]:
    found = defaultdict[str, set[str]](set)
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        assignment, _, digest = line.rpartition(" ")
        found[assignment].add(digest)
    return {assignment: frozenset(digests) for assignment, digests in found.items()}


@contextlib.contextmanager
def remembered(root: Path, notebooks: Iterable[Path]) -> Iterator[None]:
    """In the block, these releases may be written: what they replace goes into the file of the course at `root`."""
    before = {path: _present(path) for path in notebooks}
    try:
        yield
    finally:
        add(root, {path.parent.name: digests - _present(path) for path, digests in before.items()})


def add(root: Path, replaced: Mapping[str, Collection[str]]) -> None:
    """Add digests to the course's file, by assignment."""
    path = root / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    known = {line for line in lines if not line.startswith("#")}
    new = {f"{name} {digest}" for name, digests in replaced.items() for digest in digests} - known
    if new:
        path.write_text("\n".join([_HEAD, *sorted(known | new), ""]), encoding="utf-8")
