"""`autograder check NOTEBOOK`: the visible tests on a saved notebook, which runs in the sandbox.

The checks and their messages are those of `check` in a notebook. No course folder is needed. `autograder questions`
runs a notebook in the same way, to ask about its lines.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.course import content
from autograder.course.assignments import Course, course_around
from autograder.course.source_notebook import CHECK_PREFIX, MAX_BESIDE, CellKind, exercise_name
from autograder.discovery import submission_in
from autograder.errors import AutograderError, MachineError, SubmissionError
from autograder.judge import cell_errors
from autograder.judge.notebook import EditedNotebook, JudgedNotebook, defines
from autograder.judge.rules.rule import ask_one
from autograder.reading import read_bytes
from autograder.report import CellResult, Report
from autograder.reports.marks_file import write
from autograder.reports.rubric import MARKS
from autograder.student.check import CheckResult, judged, visible_material
from autograder.student.kernel import PrintedText, in_cells
from autograder.student.own_lines import calls_of, questions
from autograder.student.progress import Progress
from autograder.submission import code_cells, folders_below, python_in, python_paths, read_notebook
from autograder.text import json_text, printable, printable_lines
from autograder.worker.worker import backend_for
from cellcage import ForkServer, Limits, Zygote
from cellcage.notebook_calls import NotebookCalls, Terms
from cellcage.notebook_calls import read as read_answer
from cellcage.protocol import frames, messages
from cellcage.protocol.calls import Answer, Call

POLL_SECONDS = 0.3  # between two looks at the file
OUTPUT_SECONDS = 2.0  # for the output of a process that has answered all its calls
OUTPUT_BYTES = 200_000
MAX_FILES = 100  # of a folder
SECONDS, MEMORY = 2.0, 2**30  # of CPU time and bytes, for a call of a question
NO_LINUX = "in JupyterLab, check(...) works here"
QUOTED = re.compile(r"['\"`]([^'\"`\n]{1,200})['\"`]")
STYLES = ((MARKS["passed"], "green"), (MARKS["failed"], "red"), (MARKS["not known"], "dim"))


@dataclass(frozen=True)
class SavedNotebook:
    """A saved notebook.

    sources: its code cells without the check cells; owners: the exercise of each, or ""
    exercises: those that it has check cells for, in order
    visible: what the exercises are checked by
    files: the Python files beside the notebook, and the files there that its cells name
    """

    sources: list[str]
    owners: list[str]
    exercises: list[str]
    visible: content.Visible
    files: Mapping[str, bytes]


@contextlib.contextmanager
def open_sandbox(sandbox: str = "auto") -> Iterator[ForkServer]:
    """Where the notebook runs. Raises `MachineError` as `backend_for` does."""
    if sys.platform != "linux":
        raise MachineError("notebooks run only on Linux, or in a container with Linux", NO_LINUX)
    backend, _ = backend_for(sandbox)
    course = content.course_folder()
    with (
        Zygote(backend, content.imported_once(course)) as zygote,
        ForkServer(zygote, setting=content.sandbox_setting(course)) as server,
    ):
        yield server


def read(path: Path, course: Course | None) -> SavedNotebook:
    """The notebook at `path`. Raises `SubmissionError` if it is no notebook or has no check cell of a known exercise.

    course: what it is checked by; if not given, an installed one
    """
    notebook = read_notebook(path)
    named = [exercise_name(cell.grade_id) for cell in notebook.cells if cell.grade_id.startswith(CHECK_PREFIX)]
    visible = _visible(course, named)
    exercises = [name for name in dict.fromkeys(named) if name in visible.exercises]
    if not exercises:
        reason = f"{path}: no check cell of ours in it; name a notebook from the released folder"
        raise SubmissionError(". ".join((reason, *visible.passed_over)))
    kinds: dict[str, CellKind] = {name: "code" for own in visible.exercises for name in (own, CHECK_PREFIX + own)}
    notebook = notebook.with_kinds(kinds)
    cells = code_cells(notebook)
    owners = [notebook.cells[cell.index].grade_id for cell in cells]
    files = dict(python_in(path.parent).files) | _files_named(path.parent, [cell.source for cell in notebook.cells])
    return SavedNotebook([cell.source for cell in cells], owners, exercises, visible, files)


def _visible(course: Course | None, named: Collection[str]) -> content.Visible:
    """The visible tests of `course`; if it is not given, of the first installed course that has one of `named`.

    Visible tests run outside the sandbox, and the notebook may lie in another person's folder, with a course of theirs.
    So a course around the current folder is used only if it is given.
    """
    if course is not None:
        return content.Visible(course.folder)
    installed = [content.Visible(folder) for folder in content.installed()]
    fitting = (one for one in installed if not set(named).isdisjoint(one.exercises))
    return replace(next(fitting, content.Visible()), passed_over=tuple(_passed_over()))


def _passed_over() -> Iterator[str]:
    """A sentence on the course around the current folder, unless it is installed."""
    around = course_around(Path.cwd())
    if around and around.folder not in content.installed():
        option = f"--course {shlex.quote(str(around.root))}"
        yield printable(f"{around.root} is not used: it may be another person's course. If it is yours, add {option}.")


def _files_named(folder: Path, texts: Sequence[str]) -> dict[str, bytes]:
    """The files below `folder` that `texts` name in quotes, and those in folders that they name, up to `MAX_BESIDE`.

    No other file is read, since the folder may be a home folder.
    """
    found, left, home = dict[str, bytes](), MAX_BESIDE, os.path.realpath(folder)
    for name in dict.fromkeys(name for text in texts for name in QUOTED.findall(text)):
        place = Path(os.path.normpath(name))
        if place.is_absolute() or place.parts[:1] in ((), ("..",)) or any(part[0] == "." for part in place.parts):
            continue
        path = folder / place
        if "\0" in name or not Path(os.path.realpath(path)).is_relative_to(home):
            continue
        try:
            files = [path / name for name in sorted(os.listdir(path))[:MAX_FILES]]
        except OSError:  # a file, or, as for most quotations, nothing
            files = [path]
        for file in files:
            with contextlib.suppress(SubmissionError, UnicodeEncodeError):  # of a name that is not UTF-8
                place_there = file.relative_to(folder).as_posix()
                if place_there.encode() and file.suffix != ".ipynb":
                    found[place_there] = read_bytes(file, left, "")
                    left -= len(found[place_there])
    return found


class _PrintingNotebook(JudgedNotebook):
    """A `JudgedNotebook` that also reports what its exercises print. `printed` is what the last one printed.

    Grading does not ask for that, because what an exercise prints may hold the inputs of hidden tests.
    """

    printed = PrintedText()

    def begin(self, terms: Terms) -> NotebookCalls:
        calls = _PrintingCalls(self, terms)
        if terms.group:
            self.printed = calls.printed = PrintedText()
        return calls


class _PrintingCalls(NotebookCalls):
    """Calls of one exercise that ask for its output before they hang up. The output of a lost process is lost."""

    printed: PrintedText | None = None

    def close(self) -> None:
        if self._sock is not None and self.printed is not None:
            with contextlib.suppress(frames.Closed, frames.Deadline, frames.WireError, MachineError):
                until = time.monotonic() + OUTPUT_SECONDS
                frames.send(self._sock, messages.Calls(printed=True), until)
                received = frames.receive(
                    self._sock, until, frames.Allowance(OUTPUT_BYTES, OUTPUT_BYTES), form=messages.CellOutput
                )
                self.printed.write(received.printed)
        super().close()


def check_results(notebook: SavedNotebook, server: ForkServer) -> Iterator[CheckResult]:
    """Run the notebook, then judge one exercise after the other."""
    definitions = in_cells(notebook.sources)
    with (
        server.process(Limits(), own=notebook.files) as process,
        _PrintingNotebook(notebook.sources, Limits(), process) as running,
    ):
        for name in notebook.exercises:
            first_step = _first_step(name, notebook, running.results)
            yield judged(name, running, first_step, notebook.visible, definitions)


def _first_step(name: str, notebook: SavedNotebook, results: list[CellResult]) -> str:
    """What to do if the exercise is not judged: fix the error of its cell if there is one, else begin."""
    cells = [*zip(notebook.sources, results, strict=True)]
    for owner, cell in zip(notebook.owners, cells, strict=True):
        if owner == name and (reason := cell_errors.why_in(cell, cells) or cell_errors.stub_left_in(cell[0], name)):
            return reason
    return f"not started yet. Replace `raise NotImplementedError()` in the cell of `{name}`, save, then check again."


def check_once(path: Path, console: Console, course: Course | None, json_file: Path | None, sandbox: str) -> bool:
    """Show the result of every exercise and the bar. True if all pass.

    course: see `read`
    json_file: where to write a report on the visible tests, in which each exercise has one point
    sandbox: see `backend_for`
    """
    notebook = read(path, course)
    for sentence in notebook.visible.passed_over:
        console.print(_coloured(f"{sentence}\n"))
    results = []
    with open_sandbox(sandbox) as server:
        for result in check_results(notebook, server):
            results.append(result)
            console.print(_coloured(f"{result!r}\n"))
    console.print(_coloured(repr(_progress(results))))
    if json_file is not None:
        assignment = notebook.visible.assignment_of(notebook.exercises[0])
        report = Report(path.stem, assignment, tuple(checked.result for checked in results), float(len(results)))
        write(json_file, json_text([report.to_dict()]))
    return all(result.passed for result in results)


def oral_questions(course: Course, student: str, assignment: str) -> Iterator[str]:
    """Lines to print: for each exercise, questions on the student's own lines (see `own_lines`) with answers."""
    folder = course.root / "submitted" / student / assignment
    submission = submission_in(student, folder, course.assignment(assignment))
    if submission.problem:
        raise AutograderError(submission.problem)
    notebook = read(submission.path, course)
    with (
        open_sandbox() as server,
        server.process(Limits(), own=notebook.files) as process,
        JudgedNotebook(notebook.sources, Limits(), process) as running,
    ):
        definitions = in_cells(notebook.sources)

        def answer(text: str, call: Call) -> Answer:
            with contextlib.closing(EditedNotebook(running, (text,), SECONDS, MEMORY).begin(Terms())) as calls:
                return read_answer(ask_one(calls, call))

        for name in notebook.exercises:
            source = next((one for one in reversed(notebook.sources) if defines(name, one)), "")
            calls = calls_of(name, running, visible_material(name, notebook.visible))
            found = list(questions(name, source, calls, answer, definitions))
            yield f"{name}{':' if found else ': no question, since its check does not pass, or it makes no arrays'}"
            yield from (f"  {line}" for one in found for line in (one.text, f"Answer: {one.said}"))
            yield from (f"    {row}" for one in found[:1] for row in one.rows)


def watch(path: Path, console: Console, course: Course | None, sandbox: str) -> None:
    """After every save, show how far the notebook is and the first exercise to work on. Ends with Ctrl-C.

    A save of a Python file counts, too, if the notebook's cells can import it.
    """
    read(path, course)  # a wrong file is reported at once
    with open_sandbox(sandbox) as server:
        stamps = shown = dict[Path, tuple[int, int]]()
        while True:
            with contextlib.suppress(OSError):  # raised while an editor replaces a file
                stamps = {file: _stamp(file) for file in (path, *python_paths(folders_below(path.parent)))}
            if stamps != shown:
                shown = stamps
                console.clear()
                console.print(_coloured(_page(path, server, course)))
            time.sleep(POLL_SECONDS)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_mtime_ns, status.st_size


def _page(path: Path, server: ForkServer, course: Course | None) -> str:
    try:
        notebook = read(path, course)
        results = list(check_results(notebook, server))
    except SubmissionError as error:  # the file may be half saved; then the next save gives a page
        return str(error)
    marks = "\n".join(f"  {_mark(result):<16} {result.result.name}" for result in results)
    failed = next((result for result in results if not result.passed), None)
    work = repr(failed) if failed else "Every visible test passes. Grading uses other numbers and sizes."
    head = "\n".join((*notebook.visible.passed_over, path.name))
    again = "Save the notebook, or a Python file beside it, to check again; Ctrl-C ends."
    return f"{head}\n{_progress(results)!r}\n\n{marks}\n\n{work}\n\n{again}"


def _mark(checked: CheckResult) -> str:
    begun = checked.result.started or checked.culprit is not None or not checked.first_step.startswith("not started")
    return MARKS["passed"] if checked.passed else MARKS["failed"] if begun else "– not started"


def _progress(results: list[CheckResult]) -> Progress:
    passed = {checked.result.name for checked in results if checked.passed}
    return Progress.of(results[0].result.name, passed, results[0].visible)


def _coloured(message: str) -> Text:
    """A message with its marks in colour, in which nothing that a notebook says can control the terminal."""
    text = Text(printable_lines(message))
    for mark, style in STYLES:
        text.highlight_words([mark], style)
    return text
