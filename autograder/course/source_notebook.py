"""A notebook of the course: its cells with nbgrader's metadata, cells of plain asserts, and digests of its texts.

Graded cells of plain asserts are as in nbgrader's own courses. A cell that ends in `check("median")` is not one of
them: a suite judges its exercise.

A student keeps the notebook of an earlier release. If the course mends a word, the old text in it is still not the
student's own. `earlier_releases.txt` beside `nbgrader_config.py` holds a digest of each text that a new release has
replaced. It belongs to the course, so commit it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import re
import symtable
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from autograder.errors import CourseError
from autograder.text import squeezed

MAX_BESIDE = 16 * 2**20  # bytes of files beside a notebook; each submission gets its own
BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"  # nbgrader's markers
_ENDS_IN_CHECK = re.compile(r"""check\(\s*(['"])\w+\1\s*\)\s*;?\s*(#.*)?\Z""")
_NAMED_CHECK = re.compile(r"check\(\s*\w+\s*\)\s*\Z")
# nbgrader's release replaces this comment by tests.
AUTOTEST = re.compile(r"^\s*### (HASHED )?AUTOTEST\b", re.MULTILINE)
SHORTEST = 6  # characters of a hidden line that is redacted in messages; `x = 1` may stand anywhere
HIDDEN = "(hidden)"
CHECK_PREFIX = "test-"  # the check cell of the exercise `median` has the grade_id `test-median`
PREREQUISITE = "bring-"  # begins the id of a cell for earlier work: `bring-Stack`
DISPLAY_TAG = "active-ipynb"  # tag: the cell only displays something and is left out of the paired script
EARLIER = "earlier_releases.txt"
_HEAD = "# Written when a release is replaced: students keep notebooks with these texts. Commit this file."
_LETTERS = 12  # of a digest; a course with 10,000 texts has two alike once in five million courses

CellText = tuple[str, str, str]  # a cell's type, its grade_id (empty if it has none), and its text


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An assignment's settings: the notebook's metadata under `autograder`."""

    limits: dict[str, float] = {}


class _OfNbgrader(msgspec.Struct, frozen=True):
    grade_id: str = ""
    grade: bool = False
    solution: bool = False
    task: bool = False
    locked: bool = False
    points: float | None = None

    @property
    def is_test(self) -> bool:
        """True if nbgrader grades the cell and students do not write in it."""
        return self.grade and not self.solution

    @property
    def read_only(self) -> bool:
        """True if nbgrader only protects the cell from edits."""
        return self.locked and not self.grade and not self.solution


class _OfCell(msgspec.Struct, frozen=True):
    nbgrader: _OfNbgrader | None = None
    tags: list[str] = []


CellKind = Literal["code", "markdown", "raw"]


class SourceCell(msgspec.Struct, frozen=True):
    """A cell of a source notebook. `source` is a string or, as nbformat saves it, a list of lines."""

    cell_type: CellKind
    source: str | list[str]
    metadata: _OfCell

    @property
    def nbgrader(self) -> _OfNbgrader:
        """Its nbgrader metadata."""
        return self.metadata.nbgrader or _OfNbgrader()

    @property
    def grade_id(self) -> str:
        """Its nbgrader id; empty if it has none."""
        return self.nbgrader.grade_id

    @property
    def text(self) -> str:
        """Its text."""
        return "".join(self.source)


class _OfNotebook(msgspec.Struct, frozen=True):
    autograder: object = msgspec.field(default_factory=dict)


class _Format(msgspec.Struct):
    nbformat: int


class SourceNotebook(msgspec.Struct, frozen=True, dict=True):
    """A notebook of format 4."""

    cells: list[SourceCell]
    metadata: _OfNotebook

    @property
    def tests(self) -> list[SourceCell]:
        """Its graded cells of tests, in which students do not write."""
        return [cell for cell in self.cells if cell.nbgrader.is_test and cell.cell_type == "code"]

    @functools.cached_property
    def assert_cells(self) -> dict[str, AssertCell]:
        """Graded cells of plain asserts, by exercise. No suite judges these exercises."""
        solutions = (cell.text for cell in self.cells if cell.cell_type == "code" and cell.nbgrader.solution)
        found, solved = {}, defined_in(solutions)
        for cell in self.tests:
            named = cell.grade_id.startswith(CHECK_PREFIX)
            if cell.text.strip() and not ends_in_check(cell.text, or_a_name=named):
                found[exercise_name(cell.grade_id)] = AssertCell(cell.grade_id, cell.text, solved)
        return found

    @property
    def is_classic(self) -> bool:
        """Whether asserts or persons grade some of its code. Then pages show pictures and tables, as nbgrader's do."""
        by_hand = (cell for cell in self.cells if cell.cell_type == "code" and cell.nbgrader.solution)
        return bool(self.assert_cells) or any(cell.nbgrader.grade for cell in by_hand)

    @property
    def locked_cells(self) -> dict[str, str]:
        """Text of the code cells that students must not edit, as released, by grade_id; without check cells."""
        tests = {cell.grade_id: cell.source for cell in self.assert_cells.values()}
        given = {c.grade_id: c.text for c in self.cells if c.cell_type == "code" and c.nbgrader.read_only}
        return {name: as_released(text) for name, text in (tests | given).items()}

    @property
    def kinds(self) -> dict[str, CellKind]:
        """The kind of each cell that has a name, by grade_id."""
        return {cell.grade_id: cell.cell_type for cell in self.cells if cell.grade_id}

    @property
    def prerequisites(self) -> tuple[str, ...]:
        """Names that students bring from an earlier assignment; the reference replaces those that are missing."""
        names = [cell.grade_id for cell in self.cells]
        return tuple(name.removeprefix(PREREQUISITE) for name in names if name.startswith(PREREQUISITE))

    @property
    def display_cells(self) -> tuple[str, ...]:
        """Texts of the display cells: those with the tag that keeps them out of the paired script."""
        cells = [cell for cell in self.cells if cell.metadata.nbgrader is None]
        return tuple(cell.text for cell in cells if DISPLAY_TAG in cell.metadata.tags)

    @property
    def texts(self) -> frozenset[str]:
        """The texts of its markdown cells."""
        return frozenset(cell.text for cell in self.cells if cell.cell_type == "markdown")


def exercise_name(grade_id: str) -> str:
    """The exercise of a check cell. The grade_id of any other cell stays as it is: it names its exercise."""
    return grade_id.removeprefix(CHECK_PREFIX)


def check_cell(exercise: str, cells: Container[str]) -> str:
    """The grade_id, among `cells`, of the cell that holds an exercise's points."""
    return CHECK_PREFIX + exercise if CHECK_PREFIX + exercise in cells else exercise


def notebook_at(path: Path) -> SourceNotebook:
    """One of the course's own notebooks. Raises `CourseError`.

    Does without nbformat, whose import would add a second to every worker's start.
    """
    try:
        data = path.read_bytes()
        if msgspec.json.decode(data, type=_Format).nbformat != 4:
            raise ValueError("not of format 4; open it in JupyterLab and save it")
        return msgspec.json.decode(data, type=SourceNotebook)
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: not a notebook ({error})") from None


def files_beside(notebook: Path) -> dict[str, bytes]:
    """The files in a notebook's folder, by name, except notebooks and hidden files. Raises `CourseError`."""
    folder = notebook.parent
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix not in (".ipynb", ".pyc") and path.is_file()]
    kept = [path for path in paths if not any(part[0] == "." for part in path.relative_to(folder).parts)]
    if sum(path.stat().st_size for path in kept) > MAX_BESIDE:
        raise CourseError(f"{folder}: the files beside the notebook have more than {MAX_BESIDE >> 20} MB")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


# ---------------------------------------------------------------- cells of plain asserts


def ends_in_check(source: str, or_a_name: bool) -> bool:
    """True if a cell ends in a call of `check`. or_a_name: accept an unquoted name, too, which is a typo"""
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    patterns = (_ENDS_IN_CHECK, _NAMED_CHECK) if or_a_name else (_ENDS_IN_CHECK,)
    return bool(lines) and any(pattern.match(lines[-1]) for pattern in patterns)


def hidden_lines(source: str) -> frozenset[int]:
    """Numbers of the lines that students do not get, from 1."""
    found, inside = set[int](), False
    for number, line in enumerate(source.splitlines(), 1):
        inside = inside or BEGIN in line
        if inside:
            found.add(number)
        inside = inside and END not in line
    return frozenset(found)


def as_released(source: str) -> str:
    """A cell's text as students get it."""
    hidden = hidden_lines(source)
    return "\n".join(line for number, line in enumerate(source.splitlines(), 1) if number not in hidden)


def defined_in(sources: Iterable[str]) -> frozenset[str]:
    """The names that cells define at their top level, but for imports."""
    found = set[str]()
    for source in sources:
        with contextlib.suppress(SyntaxError):  # the cell has magics
            symbols = symtable.symtable(source, "", "exec").get_symbols()
            found |= {one.get_name() for one in symbols if one.is_assigned() and not one.is_imported()}
    return frozenset(found)


@dataclass(frozen=True)
class AssertCell:
    """A graded test cell as its author wrote it.

    solved: the names that the notebook's solutions define
    """

    grade_id: str
    source: str
    solved: frozenset[str]

    @functools.cached_property
    def answers(self) -> tuple[str, ...]:
        """The names that students define and this cell uses."""
        return tuple(sorted(self.solved.intersection(re.findall(r"\w+", self.source))))

    @functools.cached_property
    def hidden(self) -> frozenset[int]:
        """Numbers of its hidden lines."""
        return hidden_lines(self.source)

    @functools.cached_property
    def sentence(self) -> str:
        """Its first line if that is a comment, which students have, too; else empty."""
        first = next((line.strip() for line in as_released(self.source).splitlines() if line.strip()), "")
        return first.lstrip("# ") if first.startswith("#") and not first.startswith(("#!", "#%")) else ""

    @functools.cached_property
    def _lines(self) -> list[str]:
        return [line.strip() for line in self.source.splitlines()]

    def message(self, kind: str, text: str, line: int, hides: bool) -> str:
        """The message for an exception of type `kind`, with this `text`, raised on a line of the cell.

        For a hidden line it is only what the author wrote as the assert's message, unless `hides` is false.
        """
        is_assert = kind == "AssertionError"
        message = self.redacted(text) if hides else text
        if line in self.hidden and hides:
            written = self._message_at(line) if is_assert else None
            shown = written or message if written is not None else ""
            return shown or f"A hidden test does not hold{'' if is_assert else f' ({kind})'}."
        place = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        if is_assert:
            return message or (f"`{place}` does not hold." if place else "A test does not hold.")
        return f"{kind}{f': {message}' if message else ''}{f' (in `{place}`)' if place else ''}"

    def redacted(self, text: str) -> str:
        """A text without the cell's hidden lines."""
        for number in sorted(self.hidden):
            line = self._lines[number - 1]
            if len(line) >= SHORTEST:
                text = text.replace(line, HIDDEN)
        return text

    def _message_at(self, line: int) -> str | None:
        """The message of the assert on a line: empty if it is computed at run time, None if there is none."""
        try:
            tree = ast.parse(self.source)
        except SyntaxError:  # the cell has magics
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and node.msg is not None and node.lineno <= line <= (node.end_lineno or 0):
                return str(node.msg.value) if isinstance(node.msg, ast.Constant) else ""
        return None


# ---------------------------------------------------------------- digests


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
