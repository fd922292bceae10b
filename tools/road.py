"""Print how much code a mark passes through, and what `tools.features` counts.

    python -m tools.road [--json]

Grades a right a1 and then a wrong one, and runs a right `check()` and then a wrong one, each pair in a fork of this
process. A trace notes the functions of the engine and of the sandbox that are entered; those of the wrong one include
those of the right one. The judge is a thread of the worker's process. What runs in the notebook's process is not
counted, nor what is only called while a module is imported.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import multiprocessing
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from inspect import CO_OPTIMIZED
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any
from unittest import mock

import typer

from attention_course import check
from autograder import judge_process as process
from autograder.authoring.sample_class import fill, hand_in, model_answers
from autograder.cli import main as command_line
from autograder.course.assignments import Course
from autograder.worker import worker
from cellcage import ForkServer, Limits, Process, clock
from tools.features import PARTS, ROOT, counted, trees

BELOW = tuple(PARTS.values())
A1, EXERCISE = "a1_scaled_dot_product", "attention_scores"
WRONG = "def attention_scores(Q, K):\n    return Q @ K.swapaxes(-2, -1) / Q.shape[-1]"
Place = tuple[str, int]  # a function's file and first line


class Trace:
    """Notes functions as they are entered.

    loading: those that load the course
    to_judge: the judges' work, for the main thread, since only that may set a timer; None at the end
    """

    def __init__(self) -> None:
        self.entered, self.loading = set[Place](), set[Place]()
        self.to_judge = SimpleQueue[Callable[[], None] | None]()
        self.judges = functools.cache(lambda root, folder: JudgeHere({"root": root, "folder": folder}, self))

    def begin(self) -> None:
        """From now on note what this thread enters, and those it starts."""
        threading.settrace(_noting(self.entered))
        sys.settrace(_noting(self.entered))


def _noting(places: set[Place]) -> Callable[..., None]:
    """A trace function that adds what is entered to `places`."""

    def note(frame: FrameType, *_: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(BELOW) or not code.co_flags & CO_OPTIMIZED:
            return
        place = code.co_filename, code.co_firstlineno
        if place not in places and not _is_imported(frame):
            places.add(place)

    return note


def _is_imported(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


class JudgeHere:
    """In place of the judges' fork server."""

    def __init__(self, setting: Mapping[str, object], trace: Trace) -> None:
        self._trace, self._judge, self._lock = trace, process.Judge(), threading.Lock()
        self._judge.warm_up(setting)

    def warm_up(self) -> None:
        """There is nothing to start or to end."""

    end = close = warm_up

    def prepare(self, needed: object) -> None:
        """Load an assignment."""
        before = sys.gettrace()
        sys.settrace(_noting(self._trace.loading))
        with self._lock:
            self._judge.prepare(needed)
        sys.settrace(before)

    def process(self, limits: Limits, needed: object) -> Process:
        """A judge of one submission; nobody answers questions about it."""

        def opened() -> tuple[socket.socket, socket.socket]:
            self.prepare(needed)
            (ours, theirs), (status, _) = socket.socketpair(), socket.socketpair()
            self._trace.to_judge.put(functools.partial(self._judge.serve, theirs, limits, None))
            return ours, status

        return Process(opened)


def grade(is_right: bool, trace: Trace) -> None:
    """Grade an a1 as `autograder grade FOLDER --json FILE` does. Raises `ValueError` if it gets other marks."""

    def fork_server(zygote: Any, child: str = "", setting: Any = None, trusted: bool = False) -> Any:
        return trace.judges(**setting) if child == worker.JUDGE else ForkServer(zygote, setting=setting)

    assignment = Course(ROOT).assignment(A1)
    answers = model_answers(assignment) | ({} if is_right else {EXERCISE: WRONG})
    hand_in(fill(assignment.released, answers), Path("submitted"), "student", assignment)
    with (
        mock.patch.object(worker, "ForkServer", fork_server),
        mock.patch.object(process, "silence"),
        mock.patch.object(clock, "EXACT", float("inf")),  # the road of a quick machine: nobody asks for CPU time
    ):
        trace.begin()
        command_line.autograder()
        thread = threading.Thread(target=_run_command, args=[trace])
        thread.start()
        while judge := trace.to_judge.get():
            judge()
        thread.join()
    (report,) = json.loads(Path("marks.json").read_text())
    if (report["score"] == report["max_score"]) != is_right or report["status"] != "graded":
        raise ValueError(f"{A1} got {report['score']} of {report['max_score']}: {report.get('reason')}")


def _run_command(trace: Trace) -> None:
    try:
        command_line.grade([Path("submitted")], json_file=Path("marks.json"), sandbox="process", folder=ROOT)
    except typer.Exit:
        pass
    finally:
        trace.to_judge.put(None)


def run_check(is_right: bool, trace: Trace) -> None:
    """Run `check` on one exercise, in a folder like a student's."""
    names: dict[str, Any] = {"__name__": "__main__", "check": check}
    exec(WRONG + " ** 0.5" * is_right, names)
    trace.begin()
    exec(f"check('{EXERCISE}')", names)


def walk(kind: str) -> list[tuple[str, set[Place], set[Place]]]:
    """Two roads, what is entered on each, and what is entered to load the course."""
    trace, out, found = Trace(), io.StringIO(), []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        for result in ("right", "wrong"):
            (grade if kind == "a1" else run_check)(result == "right", trace)
            sys.settrace(None)
            found.append((f"{result} {kind}", set(trace.entered), set(trace.loading)))
    return found


def walked() -> dict[str, float]:
    """Modules, functions, their lines, and the classes they name, on each road."""
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:  # caches begin empty
        roads = [road for pair in pool.map(walk, ("a1", "check"), chunksize=1) for road in pair]
    nodes = [(path, node) for part in PARTS for path, tree in trees(part) for node in ast.walk(tree)]
    classes = {node.name for _, node in nodes if isinstance(node, ast.ClassDef)}
    functions = {(path, _first(node)): node for path, node in nodes if isinstance(node, ast.FunctionDef)}
    found = dict[str, float]()
    for road, entered, loading in roads:
        for part, folder in PARTS.items():
            places = {place for place in entered | loading if place[0].startswith(folder)}
            of = [functions[place] for place in places & functions.keys()]
            found[f"{road}, {part}: modules"] = len({file for file, _ in places})
            found[f"{road}, {part}: functions"] = len(of)
            found[f"{road}, {part}: lines of functions"] = sum(node.end_lineno - node.lineno + 1 for node in of)
        inner = (inner for place in entered & functions.keys() for inner in ast.walk(functions[place]))
        named = {getattr(node, "id", getattr(node, "attr", "")) for node in inner}
        found[f"{road}: classes named, without loading"] = len(named & classes)
    return found


def _first(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def main(form: str = "") -> None:
    """Print a table of all numbers, or an object with --json."""
    found = walked() | counted()
    print(json.dumps(found) if form == "--json" else "\n".join(f"{name:48}{now:7}" for name, now in found.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
