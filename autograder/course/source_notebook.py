"""A source notebook: its cells, their nbgrader metadata, and the course's settings in its metadata."""

from __future__ import annotations

import ast
import asyncio
import atexit
import contextlib
import functools
import importlib.util
import inspect
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec

from autograder.course.time_limit import loaded_in_time
from autograder.errors import CourseError
from cellcage.files import FOLDER, put

MAX_BESIDE = 16 * 2**20  # bytes of files beside a notebook; each submission gets its own


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


class SourceNotebook(msgspec.Struct, frozen=True):
    """A notebook of format 4."""

    cells: list[SourceCell]
    metadata: _OfNotebook


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


@functools.lru_cache(maxsize=16)
def data_folder(files: tuple[tuple[str, bytes], ...], source: Path) -> str:
    """A folder with copies of the files beside a notebook, in which the solution runs."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="autograder-data-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)  # a judge runs as another user than its fork server
        put(dict(files), folder)
    except OSError:  # no writable place, or not enough room; code then reads the original files
        return str(source)
    return str(folder)


@contextlib.contextmanager
def modules_beside(folder: Path) -> Iterator[None]:
    """In the block, modules in a notebook's folder can be imported, as students' code can.

    They are forgotten afterwards, since another assignment may have others of the same names.
    """
    before, writes = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes
        for name in sys.modules.keys() - before:
            if (file := getattr(sys.modules[name], "__file__", None)) and Path(file).is_relative_to(folder):
                del sys.modules[name]


def _run(path: Path, module: ModuleType) -> None:
    """Run a script in a module's names. As in a notebook, it may use `await` outside functions."""
    code = compile(path.read_bytes(), str(path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    awaited = eval(code, vars(module))  # noqa: S307
    if inspect.iscoroutine(awaited):
        with ThreadPoolExecutor(1) as beside:  # in this thread there may be a loop already, as in a notebook's kernel
            beside.submit(asyncio.run, awaited).result()


@functools.lru_cache
def load_solution(path: Path, changed: int, folder: str) -> ModuleType:
    """A paired script as a module, run in `folder` unless that is empty. Raises `CourseError`.

    changed: the time of its last change, so that an edited script is loaded again
    """
    name = f"solutions.{path.parent.name}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.absolute())
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    setattr(module, FOLDER, folder)
    try:
        with (
            contextlib.chdir(folder) if folder else contextlib.nullcontext(),
            modules_beside(Path(folder)) if folder else contextlib.nullcontext(),
        ):
            loaded_in_time(path, lambda: _run(path, module))
    except CourseError:
        raise
    except Exception as error:
        where, said = _line(error, path), f"({type(error).__name__}: {error})"
        raise CourseError(f"{path}: the solution does not run{where} {said}") from error
    return module


def _line(error: Exception, path: Path) -> str:
    """The line at the script's top that raised, as a part of a sentence: the notebook has its text, not its number."""
    frames = (frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path))
    line = next((frame.line for frame in frames if frame.line), "")
    return f" at `{line}`" if line else ""
