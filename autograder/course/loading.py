"""Runs an author's code in this process, with a time limit: solutions, known mistakes, tests."""

from __future__ import annotations

import ast
import asyncio
import atexit
import contextlib
import functools
import importlib
import importlib.util
import inspect
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from autograder.errors import CourseError
from cellcage.files import FOLDER, put

COURSE = "course.toml"  # in the course's folder
PACKAGE = "content of "  # prefix of the names of loaded modules
LOADING_SECONDS = 120.0  # for the code of one file at its top; a solution may train a little
AGAIN_SECONDS = 0.5  # a bare `except` may swallow the exception, so it is raised again

Made = TypeVar("Made")


class TimeIsUp(BaseException):
    """Ends what has run for too long. No `except Exception` on the way can swallow it."""


def loaded_in_time(path: Path, load: Callable[[], Made]) -> Made:
    """What `load` returns, which runs the code of a file. Raises `CourseError` if that does not end in time."""
    return course_in_time(LOADING_SECONDS, load, f"{path}: its code", "does a loop never end?")


def course_in_time(seconds: float, make: Callable[[], Made], what: str, question: str) -> Made:
    """What `make` returns. Raises `CourseError` if that takes longer. what: runs; question: what the cause may be"""

    def late() -> Made:
        raise CourseError(f"{what} ran for more than {seconds:g} seconds and was stopped; {question}")

    return in_time(seconds, make, late)


def in_time(seconds: float, make: Callable[[], Made], late: Callable[[], Made]) -> Made:
    """What `make` returns; what `late` returns if that takes longer, on the clock.

    There is no limit on Windows, and outside the main thread. Another limit that ends `make` raises `TimeIsUp`.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return make()
    is_up = False

    def ring(*_: object) -> None:
        nonlocal is_up
        is_up = True
        raise TimeIsUp

    began, before = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        made = make()
    except TimeIsUp:
        if not is_up:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if left:  # this was called within another limit
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.01), AGAIN_SECONDS)
    return late() if is_up else made


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


def load(path: Path) -> ModuleType:
    """A course's file as a module, loaded once. Its package is the course's folder, wherever that lies."""
    path = path.resolve()
    home = next((folder for folder in path.parents if (folder / COURSE).is_file()), path.parents[2])
    package = _package(home)
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(home)]
    parts = path.relative_to(home).with_suffix("").parts
    with modules_beside(home.parent / "source" / parts[0]):
        return loaded_in_time(path, lambda: importlib.import_module(".".join((package, *parts))))


class Package(MetaPathFinder):
    """Finds the package in a course's folder by its name. A judge may read the folder, but not list the one around it,
    which Python's own finder does."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "__init__.py"

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How to import the package; None for any other module."""
        if name != self.file.parent.name or not self.file.is_file():
            return None
        return importlib.util.spec_from_file_location(name, self.file)


def forget(folder: Path) -> None:
    """Reload an assignment's files at the next `load`, since their author may have edited them."""
    importlib.invalidate_caches()
    folder = folder.resolve()
    prefix = f"{_package(folder.parent)}.{folder.name}."
    for name in [name for name in sys.modules if name.startswith(prefix)]:
        del sys.modules[name]


def _package(folder: Path) -> str:
    """A unique module name. Dots are replaced, since they would separate packages."""
    return PACKAGE + str(folder).replace(".", "\N{ONE DOT LEADER}")


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
