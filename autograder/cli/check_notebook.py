"""`autograder check NOTEBOOK`: the visible tests from a terminal, on a saved notebook that runs in the sandbox.

The same checks and the same words as `check` in the notebook. Needs no course around it.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder import content
from autograder.cli.printing_notebook import PrintingNotebook, WithFiles, files_named
from autograder.course import CHECK, Course, courses_around
from autograder.errors import SubmissionError
from autograder.report import CellResult, Report
from autograder.reports.marks_file import write
from autograder.reports.plain_text import MARKS
from autograder.sandbox.limits import Limits
from autograder.sandbox.supervisor.fork_server import ForkServer, isolates
from autograder.sandbox.supervisor.zygote import Zygote
from autograder.student.calls import in_cells
from autograder.student.check import judged, watched_in
from autograder.student.check_result import CheckResult, Progress
from autograder.submission import Cell, code_cells, read_notebook
from autograder.testing import cell_errors
from autograder.text import printable_lines

GLANCE = 0.3  # seconds between two looks at the file
STYLES = ((MARKS["passed"], "green"), (MARKS["failed"], "red"), (MARKS["not known"], "dim"))


@dataclass(frozen=True)
class SavedNotebook:
    """A saved notebook: its code cells without the checks, the exercise of each (or ""), and what it has checks for.

    files: what lies beside it and has its name in it, to be read by the cells
    """

    cells: list[Cell]
    owners: list[str]
    exercises: list[str]
    visible: content.Visible
    files: Mapping[str, bytes] = field(default_factory=dict)


@contextlib.contextmanager
def open_sandbox() -> Iterator[ForkServer]:
    """Where the notebook runs: behind bubblewrap if there is one. It is the student's own code on their machine."""
    backend, _ = isolates("auto")
    with (
        Zygote(backend, content.imported_once()) as zygote,
        ForkServer(zygote, setting=content.sandbox_setting()) as server,
    ):
        yield server


def read(path: Path, course: Course | None = None) -> SavedNotebook:
    """The notebook at `path`. Raises `SubmissionError` if it is none, or none of ours.

    course: what it is checked by; the one around the current folder if not given
    """
    notebook = read_notebook(path)
    cells = code_cells(notebook)
    named = [one.grade_id.removeprefix(CHECK) for one in notebook.cells if one.grade_id.startswith(CHECK)]
    visible = _visible(path, course, named)
    known = {name for exercises in visible.assignments().values() for name in exercises}
    exercises = [name for name in dict.fromkeys(named) if name in known]
    if not exercises:
        why = f"{path}: no check cell of ours in it; name a notebook from the released folder"
        raise SubmissionError(". ".join((why, *visible.passed_over)))
    owners = [notebook.cells[cell.index].grade_id for cell in cells]
    texts = [cell.source for cell in notebook.cells]
    return SavedNotebook(cells, owners, exercises, visible, files_named(path.parent, texts))


def _visible(path: Path, course: Course | None, named: Collection[str]) -> content.Visible:
    """What `course` checks by, or if none is named the course around here; if it has nothing, an installed one.

    named: exercises; of several installed courses it is the first that has one of them

    Checks run outside the sandbox, and the notebook may be another person's. So nothing beside the notebook counts, and
    a course that others can write to counts if it was named.
    """
    passed_over: list[str] = []
    for one in (course,) if course else courses_around(Path.cwd(), handed_in=[path]):
        own = content.Visible(content.course_folder(one.root))
        why = "" if course else content.why_passed_over(own.folder)
        if not why:
            return replace(own if own.assignments() else _installed_with(named), passed_over=tuple(passed_over))
        passed_over.append(why)
    return replace(_installed_with(named), passed_over=tuple(passed_over))


def _installed_with(named: Collection[str]) -> content.Visible:
    courses = (content.Visible(folder) for folder in content.installed())
    has_one = (one for one in courses if any(set(named) & set(names) for names in one.assignments().values()))
    return next(has_one, content.Visible())


def verdicts(notebook: SavedNotebook, sandbox: ForkServer) -> Iterator[CheckResult]:
    """Run the notebook and judge one exercise after the other."""
    signatures = _signatures(notebook.cells)
    code_of = in_cells(cell.source for cell in notebook.cells)
    with contextlib.ExitStack() as opened:
        fresh = opened.enter_context(WithFiles(sandbox, Limits(), notebook.files))
        sources = [cell.source for cell in notebook.cells]
        watched = watched_in(notebook.exercises[0], notebook.visible)
        running = opened.enter_context(PrintingNotebook(sources, Limits(), fresh, watched))
        for name in notebook.exercises:
            first_step = _first_step(name, notebook.owners, running.cells, running.results)
            yield judged(name, running, first_step, notebook.visible, code_of, signatures)


def check_once(path: Path, console: Console, course: Course | None = None, json_file: Path | None = None) -> bool:
    """Show every exercise's verdict and the bar; did all pass? Without `course`, the one around the current folder.

    json_file: gets a report on the visible tests; each exercise is worth one point
    """
    notebook = read(path, course)
    for sentence in notebook.visible.passed_over:
        console.print(_coloured(f"{sentence}\n"))
    with open_sandbox() as sandbox:
        found = []
        for verdict in verdicts(notebook, sandbox):
            found.append(verdict)
            console.print(_coloured(f"{verdict!r}\n"))
    console.print(_coloured(repr(_progress(found))))
    if json_file is not None:
        assignment = notebook.visible.assignment_of(found[0].result.name)
        report = Report(path.stem, assignment, tuple(one.result for one in found), float(len(found)))
        write(json_file, json.dumps([report.to_dict()], indent=2, ensure_ascii=False) + "\n")
    return all(verdict.passed for verdict in found)


def watch(path: Path, console: Console, course: Course | None = None) -> None:
    """Show how far the notebook is, and the first exercise to work on, again after every save; until Ctrl-C."""
    read(path, course)  # what is no notebook of ours is said at once
    with open_sandbox() as sandbox:
        seen: object = None
        while True:
            stamp = _stamp(path)
            if stamp is not None and stamp != seen:
                seen = stamp
                console.clear()
                console.print(_coloured(_page(path, sandbox, course)))
            time.sleep(GLANCE)


def _page(path: Path, sandbox: ForkServer, course: Course | None = None) -> str:
    try:
        notebook = read(path, course)
        found = list(verdicts(notebook, sandbox))
    except SubmissionError as error:  # saved halfway, perhaps; the next save will tell
        return str(error)
    marks = "\n".join(f"  {_mark(verdict):<16} {verdict.result.name}" for verdict in found)
    now = next((verdict for verdict in found if not verdict.passed), None)
    work = repr(now) if now else "Every visible test passes. Grading uses other numbers and sizes."
    head = "\n".join((*notebook.visible.passed_over, path.name))
    return f"{head}\n{_progress(found)!r}\n\n{marks}\n\n{work}\n\nSave the notebook to check again; Ctrl-C ends."


def _mark(verdict: CheckResult) -> str:
    begun = verdict.result.started or verdict.culprit is not None or not verdict.first_step.startswith("not started")
    return MARKS["passed"] if verdict.passed else MARKS["failed"] if begun else "– not started"


def _progress(found: list[CheckResult]) -> Progress:
    done = {verdict.result.name for verdict in found if verdict.passed}
    return Progress.of(found[0].result.name, done, found[0].visible)


def _coloured(words: str) -> Text:
    """All that is shown goes through here: what the notebook says, and its name, give a terminal no orders."""
    text = Text(printable_lines(words))
    for mark, style in STYLES:
        text.highlight_words([mark], style)
    return text


def _stamp(path: Path) -> tuple[int, int] | None:
    """When the file was last saved; None while an editor is replacing it."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _first_step(name: str, owners: list[str], sources: list[str], results: list[CellResult]) -> str:
    """What to do if nothing is judged: what the exercise's own cell ran into, else to begin."""
    for owner, source, result in zip(owners, sources, results, strict=True):
        if owner == name and (said := cell_errors.why(source, result)):
            return said
    return f"not started yet. Replace `raise NotImplementedError()` in the cell of `{name}`, save, then check again."


def _signatures(cells: list[Cell]) -> dict[str, object]:
    """The notebook's functions and classes by name, as objects that have a signature and nothing else."""
    found: dict[str, object] = {}
    for cell in cells:
        try:
            body = ast.parse(cell.source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # its own message comes from running it
            continue
        for node in body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = _with_signature(node)
            elif isinstance(node, ast.ClassDef):
                inside = (n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
                found.update((node.name, _with_signature(init)) for init in inside)
    return found


def _with_signature(function: ast.FunctionDef) -> object:
    def proxy() -> None: ...

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    proxy.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return proxy
