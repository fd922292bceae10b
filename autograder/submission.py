"""Reads what students hand in: untrusted bytes. Nothing here runs code, follows a link, or blocks.

`read_notebook` and `notebook_of` raise only `SubmissionError`, with a reason that a teacher can act on.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs

from autograder.course.source_notebook import CHECK_PREFIX, CellKind
from autograder.errors import SubmissionError
from autograder.reading import parse_json, read_bytes
from autograder.text import one_line, printable

# Two repeats in a row never match the same character: else a long line would take the square of its length.
_PLAIN_CHECK = re.compile(r"check\(\s*[\w\"']+\s*\)|from \w[\w.]* import check")
_VERSION = re.compile(r"3\.[0-9]{1,2}(?:\.[0-9]{1,3})?", re.ASCII)
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MAX_BYTES = 20 * 2**20  # a notebook full of plots has 5 MB
MAX_CELLS = 5_000  # a long notebook has 200
# Of the Python files beside a notebook, which its cells may import.
MAX_PYTHON, MAX_PYTHON_BYTES = 50, 2**20  # files, and bytes of all together
MAX_FOLDERS = 200  # that are searched for them
UNTOUCHED = "untouched"  # the key of a cell's nbgrader metadata for `NotebookCell.untouched`; no student can set it
OLD_TEXTS = ("source", "input", "code", "text")  # where formats 1 to 3 keep a cell's text


@dataclass(frozen=True)
class CodeCell:
    """A code cell to run; `index` is its position in the notebook, counted from 0.

    locked: the grade_id if students must not edit the cell; else empty
    checks: the grade_ids of the check cells between this cell and the one before
    """

    index: int
    source: str
    locked: str = ""
    checks: tuple[str, ...] = ()


class NotebookCell(Struct, frozen=True):
    """The relevant parts of a notebook's cell; `grade_id` is nbgrader's name for it.

    attachments: pasted pictures by name: base64 data by media type
    untouched: true if nbgrader's checksum shows that the text is that of the release which the student got
    """

    cell_type: CellKind
    source: str
    grade_id: str = ""
    attachments: dict[str, dict[str, str]] = {}
    untouched: bool = False


Cells = tuple[NotebookCell, ...]


class NotebookFile(Struct, frozen=True):
    """A notebook as its cells, and the version of Python that it was last run with, as far as it says so."""

    cells: Cells
    python_version: str = ""

    @classmethod
    def of(cls, cells: Iterable[Any], metadata: Any = None) -> NotebookFile:
        """Built from cells of JSON or nbformat. Invalid cells are left out, and missing parts filled in."""
        return cls(tuple(_tidy(cell) for cell in cells if isinstance(cell, dict)), _python_version(metadata))

    def as_nbformat(self) -> dict[str, object]:
        """The notebook in nbformat 4.5."""
        cells = [_as_nbformat(number, cell) for number, cell in enumerate(self.cells)]
        return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}

    def with_kinds(self, kinds: Mapping[str, CellKind]) -> NotebookFile:
        """The notebook with named cells turned back into the kind that the course gave them, as nbgrader does.

        JupyterLab turns a cell into Markdown at one key. If several have a name, the first is turned back, and none if
        one is still of the right kind.

        kinds: by grade_id
        """
        settled, found = {cell.grade_id for cell in self.cells if kinds.get(cell.grade_id) == cell.cell_type}, []
        for cell in self.cells:
            kind = kinds.get(cell.grade_id, cell.cell_type)
            if kind != cell.cell_type and cell.grade_id not in settled:
                settled.add(cell.grade_id)
                cell = structs.replace(cell, cell_type=kind, attachments={} if kind == "code" else cell.attachments)
            found.append(cell)
        return structs.replace(self, cells=tuple(found))


@dataclass(frozen=True)
class PythonFiles:
    """The Python files that a student's cells may import: contents by place beside the notebook.

    left_out: a part of a sentence for each that was not taken: `helper.py is a link`
    """

    files: tuple[tuple[str, bytes], ...] = ()
    left_out: tuple[str, ...] = ()


Holds = Literal["nothing", "cells", "work", "unread", "unknown"]  # see `FileBeside`


@dataclass(frozen=True)
class FileBeside:
    """A file in a submission's folder beside the notebook that is graded.

    place: in the folder
    stamp: the submission's if this notebook were graded; the size of a file that is no notebook, or was not read
    holds: nothing if it is a copy of the graded notebook or a file of the release; `cells` of the assignment without
        work in them, or with `work`; `unread` for a notebook beyond the limits; `unknown` for any other file
    cells: of a notebook with the assignment's cells
    """

    place: Path
    stamp: str
    holds: Holds
    cells: Cells = ()


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one assignment, and what was read of the files around it.

    student: the folder's name, unchanged, since names that look alike are different students. If it is not a valid id,
        it is escaped by `shown_name`; see `discovery.name_problem`.
    problem: why the notebook cannot be found, if it cannot
    folder: the student's folder of the assignment; None if the notebook lies in no such folder
    python: the Python files that its cells may import
    stamp: the notebook's in such a folder (see `stamp`)
    files_stamp: a digest of all files in the folder: places, stamps of notebooks, and sizes of the others
    beside: the other files, the outermost first
    """

    student: str
    assignment: str
    path: Path
    problem: str | None = None
    folder: Path | None = None
    python: PythonFiles = PythonFiles()
    stamp: str = ""
    files_stamp: str = ""
    beside: tuple[FileBeside, ...] = ()


def python_beside(notebook: Path) -> PythonFiles:
    """The Python files directly beside a notebook, if no other notebook is there: the folder may be anybody's."""
    alone = [entry.name for entry in _entries(notebook.parent) if entry.name.endswith(".ipynb")] == [notebook.name]
    return python_in(notebook.parent, deep=False) if alone else PythonFiles()


def python_in(folder: Path, deep: bool = True) -> PythonFiles:
    """The Python files in a folder, as far as limits allow. deep: also those in folders that code can import."""
    found, left_out, left = list[tuple[str, bytes]](), list[str](), MAX_PYTHON_BYTES
    folders = folders_below(folder) if deep else [folder]
    if len(folders) > MAX_FOLDERS:
        left_out.append(f"there are more than {MAX_FOLDERS} folders")
    for number, path in enumerate(python_paths(folders)):
        place = path.relative_to(folder).as_posix()
        if number == MAX_PYTHON:
            left_out.append(f"there are more than {MAX_PYTHON} Python files, such as {printable(place)}")
            break
        try:
            if not path.is_symlink() and path.lstat().st_size > left:
                raise SubmissionError(f"{place} makes them more than {MAX_PYTHON_BYTES >> 20} MB")
            place.encode()
            found.append((place, read_bytes(path, left, "")))
        except UnicodeEncodeError:
            left_out.append(f"the name of {printable(place)} is not UTF-8")
        except (OSError, SubmissionError) as error:
            left_out.append(printable(str(error)))
        else:
            left -= len(found[-1][1])
    return PythonFiles(tuple(found), tuple(left_out))


def folders_below(folder: Path) -> list[Path]:
    """A folder and those below it whose names code can import, without links; at most one more than the limit."""
    found = [folder]
    for place in found:
        if len(found) <= MAX_FOLDERS:
            inner = (entry for entry in _entries(place) if entry.name.isidentifier())
            found += [Path(entry.path) for entry in inner if entry.is_dir(follow_symlinks=False)]
    return found[: MAX_FOLDERS + 1]


def python_paths(folders: Sequence[Path]) -> Iterator[Path]:
    """Entries named `*.py` in the folders, except hidden ones; at most one more than the limit."""
    names = ((folder, entry.name) for folder in folders[:MAX_FOLDERS] for entry in _entries(folder))
    found = (folder / name for folder, name in names if name.endswith(".py") and name[0] != ".")
    return itertools.islice(found, MAX_PYTHON + 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; nothing if it cannot be read."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def read_notebook(path: Path) -> NotebookFile:
    """The notebook at `path`, of any format."""
    return notebook_of(read_bytes(path, MAX_BYTES, "Were outputs left in it?"), path.name)


def why_unreadable(path: Path) -> str:
    """Why a notebook cannot be read; empty if it can."""
    try:
        read_notebook(path)
    except SubmissionError as error:
        return str(error)
    return ""


def notebook_of(data: bytes, name: str) -> NotebookFile:
    """The notebook in a file with this content and name."""
    try:
        notebook = parse_json(_decoded(data, name))
        cells = _old_cells(notebook, name) if notebook["nbformat"] < 4 else notebook["cells"]
        if not isinstance(cells, list):
            raise SubmissionError(f"{name} is not a Jupyter notebook (its cells are not a list)")
        _refuse_too_many(len(cells), name)
        return NotebookFile.of(cells, notebook.get("metadata"))
    except SubmissionError:
        raise
    except RecursionError:
        raise SubmissionError(f"{name} is nested too deeply to be a notebook") from None
    except Exception as error:
        reason = one_line(str(error))[:120] or type(error).__name__
        raise SubmissionError(f"{name} is not a Jupyter notebook ({reason})") from None


def _python_version(metadata: Any) -> str:
    """The version of Python in a notebook's metadata, such as `3.12.4`; empty if there is none."""
    language = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = language.get("version") if isinstance(language, dict) and language.get("name") == "python" else None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else ""


def _refuse_too_many(cells: int, name: str) -> None:
    """Refuse a notebook that would become gigabytes: in memory, a cell is hundreds of times larger than `{}`."""
    if cells > MAX_CELLS:
        raise SubmissionError(f"{name} has {cells} cells; the limit is {MAX_CELLS}")


def _old_cells(notebook: Mapping[str, Any], name: str) -> list[object]:
    """The cells of a notebook of formats 1 to 3, from before 2015, as those of format 4.

    nbformat's own conversion takes gigabytes for some small notebooks.
    """
    sheets = [notebook.get("cells", []), *(sheet["cells"] for sheet in notebook.get("worksheets", []))]
    _refuse_too_many(max(len(sheets), sum(map(len, sheets))), name)
    return [_upgraded(cell) if isinstance(cell, dict) else cell for cells in sheets for cell in cells]


def _upgraded(cell: Mapping[str, Any]) -> dict[str, object]:
    kind, text = cell.get("cell_type"), next((_text(cell[key]) for key in OLD_TEXTS if key in cell), "")
    if kind == "heading":
        level = next((number for number in range(1, 7) if number == cell.get("level")), 1)
        text = f"{'#' * level} {' '.join(text.splitlines())}"
    kept = kind if kind in ("code", "raw") else "markdown"
    return {"cell_type": kept, "source": text, "metadata": cell.get("metadata")}


def _text(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _writable(text: str) -> str:
    """`text` without halves of characters, which JSON may have, no file can, and no Python program may."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _tidy(cell: Mapping[str, Any]) -> NotebookCell:
    text, name = _writable(_text(cell.get("source", ""))), _writable(grade_id(cell))
    untouched = _is_untouched(cell, text)
    if cell.get("cell_type") == "code":
        return NotebookCell("code", text, name, untouched=untouched)
    kind: CellKind = "markdown" if cell.get("cell_type") == "markdown" else "raw"
    return NotebookCell(kind, text, name, _pictures(cell.get("attachments")), untouched)


def _is_untouched(cell: Mapping[str, Any], text: str) -> bool:
    """True if nbgrader's checksum fits, as in `nbgrader.utils.compute_checksum`; the course may have changed since."""
    if not grade_id(cell):
        return False
    data = cell["metadata"]["nbgrader"]
    grade, solution, locked = (bool(data.get(key, False)) for key in ("grade", "solution", "locked"))
    parts = [text, str(cell.get("cell_type")), str(grade), str(solution), str(not solution and (grade or locked))]
    parts.append(grade_id(cell))
    try:
        parts += [str(float(data["points"]))] if grade else []
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    found = hashlib.md5("".join(parts).encode("utf-8", "replace"), usedforsecurity=False)
    return bool(data.get("checksum") == found.hexdigest())


def cell_id(index: int) -> str:
    """The id of a notebook's cell in nbformat. index: from 0"""
    return f"cell-{index}"


def _as_nbformat(number: int, cell: NotebookCell) -> dict[str, object]:
    metadata = {"nbgrader": {"grade_id": cell.grade_id, UNTOUCHED: cell.untouched}} if cell.grade_id else {}
    found: dict[str, object] = {"id": cell_id(number), "cell_type": cell.cell_type}
    found |= {"metadata": metadata, "source": cell.source}
    if cell.cell_type == "code":
        return found | {"outputs": [], "execution_count": None}
    return found | ({"attachments": cell.attachments} if cell.attachments else {})


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Pasted pictures of raster types, which cannot contain scripts."""
    found = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        kinds = bundle.items() if isinstance(bundle, dict) else ()
        kept = {kind: _writable(data) for kind, data in kinds if kind in PICTURES and isinstance(data, str)}
        if kept and isinstance(name, str):
            found[_writable(name)] = kept
    return found


def stamp(submission: Submission, *words: str) -> str:
    """A digest of what was handed in and of `words`, such as the course's version."""
    try:
        content = b"" if submission.problem else read_bytes(submission.path, MAX_BYTES, "")
    except SubmissionError as error:
        return stamp_with(submission, None, *words, str(error))
    return stamp_with(submission, content, *words)


def stamp_with(submission: Submission, content: bytes | None, *words: str) -> str:
    """The same with the content of the notebook's file, if it could be read."""
    texts = [submission.student, submission.assignment, str(submission.problem), *words]
    texts += [f"{place} {hashlib.sha256(data).hexdigest()}" for place, data in submission.python.files]
    parts = [text.encode("utf-8", "replace") for text in texts] + ([] if content is None else [content])
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def code_cells(notebook: NotebookFile, locked: Mapping[str, str] | None = None) -> list[CodeCell]:
    """The cells to run: all code cells except calls of `check`, which only display something to the student.

    locked: texts by grade_id that students must not edit; each replaces the first cell with its id
    """
    left, found, checks = dict(locked or {}), [], list[str]()
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        original = left.pop(cell.grade_id, None)
        if original is not None:
            found.append(CodeCell(index, original, cell.grade_id, tuple(checks)))
            checks = []
        elif cell.source.strip() and not is_plain_check(cell.source):
            found.append(CodeCell(index, cell.source, checks=tuple(checks)))
            checks = []
        if cell.grade_id.startswith(CHECK_PREFIX):
            checks.append(cell.grade_id)
    return found


def is_plain_check(source: str) -> bool:
    """True if a cell holds nothing except the import of `check` and calls of it."""
    lines = [line for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return all(_PLAIN_CHECK.fullmatch(line.strip()) for line in lines)


def grade_id(cell: Any) -> str:
    """nbgrader's name of a cell; empty if it has none."""
    metadata = cell.get("metadata")
    data = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = data.get("grade_id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def _decoded(data: bytes, name: str) -> str:
    if not data.strip():
        raise SubmissionError(f"{name} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SubmissionError(f"{name} is not UTF-8 text, so it is not a Jupyter notebook") from None
