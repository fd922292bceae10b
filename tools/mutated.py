"""Compare how `autograder grade` and `nbgrader autograde` read notebooks whose structure was mutated.

    python -m tools.mutated --count 10000

Both must judge the same cells, or refuse with the same message. Nothing is marked and no sandbox is opened, so the time
goes into reading notebooks and nbgrader's bookkeeping.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.discovery import find_submissions
from autograder.nbgrader.preprocessor import Mark
from autograder.report import CellResult, ExerciseResult, Report
from autograder.worker.task import Marked, Task, as_task, failed
from tests.helpers import small_course

Notebook = dict[str, Any]
ODD: list[Any] = [
    None, True, 0, -1, 4.5, 10**400, float("nan"), "", "x",
    "\ud800", "\0", "é" * 50, [], {}, [[]], [None, 1], {"a": {}},
    ["a", "b\n"], [1, "x"], {"text": ["x"]}, "x" * 5000, [{}] * 50,
]  # fmt: skip
KEYS = (
    "cell_type", "source", "metadata", "outputs", "execution_count", "id", "attachments", "input", "collapsed", "extra",
)  # fmt: skip
OUTPUTS: list[Any] = [
    {"output_type": "stream", "name": "stdout", "text": ["a", "b"]}, {"output_type": "stream"}, {"output_type": "odd"},
    {"output_type": "execute_result", "data": {"text/html": "<b>x</b>", "image/png": 3}, "metadata": None},
    {"output_type": "error", "ename": 1, "evalue": None, "traceback": "x"},
    {"output_type": "pyout", "prompt_number": 1},
]  # fmt: skip
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp037")


def one_of(rng: random.Random, notebook: Notebook) -> Notebook | None:
    """A random cell; None if the notebook has no cell that is a dict."""
    cells = notebook.get("cells")
    found = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    return rng.choice(found) if found else None


def change_cell(rng: random.Random, notebook: Notebook) -> None:
    if cell := one_of(rng, notebook):
        cell[rng.choice(KEYS)] = copy.deepcopy(rng.choice(ODD))


def drop_key(rng: random.Random, notebook: Notebook) -> None:
    where = one_of(rng, notebook) if rng.random() < 0.8 else notebook
    if where:
        where.pop(rng.choice(list(where)), None)


def change_cells(rng: random.Random, notebook: Notebook) -> None:
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        return
    what = rng.choice(("drop", "double", "shuffle", "odd", "none", "many"))
    if what == "drop" and cells:
        cells.pop(rng.randrange(len(cells)))
    elif what == "double" and cells:
        cells.insert(rng.randrange(len(cells)), copy.deepcopy(rng.choice(cells)))
    elif what == "shuffle":
        rng.shuffle(cells)
    elif what == "odd":
        cells.insert(rng.randrange(len(cells) + 1), copy.deepcopy(rng.choice(ODD)))
    elif what == "none":
        notebook["cells"] = copy.deepcopy(rng.choice(ODD))
    else:
        cells += [copy.deepcopy(rng.choice(cells)) for _ in range(rng.choice((10, 200)))] if cells else []


def change_name(rng: random.Random, notebook: Notebook) -> None:
    """Change nbgrader's metadata of a cell."""
    if (cell := one_of(rng, notebook)) is None or not isinstance(cell.get("metadata"), dict):
        return
    own = cell["metadata"].setdefault("nbgrader", {})
    if isinstance(own, dict) and rng.random() < 0.8:
        key = rng.choice(
            ("grade_id", "points", "locked", "grade", "solution", "task", "schema_version", "checksum", "cell_type")
        )
        known = (small_course.EXERCISE, f"test-{small_course.EXERCISE}", f"bring-{small_course.EXERCISE}")
        own[key] = copy.deepcopy(rng.choice([*known, *ODD]))
    else:
        cell["metadata"]["nbgrader"] = copy.deepcopy(rng.choice(ODD))


def change_outputs(rng: random.Random, notebook: Notebook) -> None:
    if cell := one_of(rng, notebook):
        cell["outputs"] = copy.deepcopy(rng.choices(OUTPUTS, k=rng.randint(0, 4)))


def change_text(rng: random.Random, notebook: Notebook) -> None:
    if (cell := one_of(rng, notebook)) and isinstance(text := cell.get("source"), str | list):
        text = "".join(map(str, text))
        lines, check = text.splitlines(keepends=True), f'check("{small_course.EXERCISE}")'
        windows, half, magic = text.replace("\n", "\r\n"), text + "\ud800", "%%time\n" + text
        cell["source"] = rng.choice((lines, windows, half, magic, "", "   ", text * 3, [text, 1], check))


def change_version(rng: random.Random, notebook: Notebook) -> None:
    notebook["nbformat"] = rng.choice((1, 2, 3, 4, 5, "4", None, 3.0, 4.0))
    notebook["nbformat_minor"] = rng.choice((0, 1, 4, 5, 6, 99, "x", None))
    if rng.random() < 0.5 and isinstance(notebook.get("cells"), list):
        cells = notebook.pop("cells") if rng.random() < 0.7 else notebook["cells"]
        notebook["worksheets"] = rng.choice(([{"cells": cells}], [{"cells": cells}, {"cells": []}], [{}], cells))


def change_whole(rng: random.Random, notebook: Notebook) -> None:
    notebook[rng.choice(("metadata", "cells", "nbformat", "nbformat_minor", "worksheets", "signature"))] = (
        copy.deepcopy(rng.choice(ODD))
    )


CHANGES: tuple[Callable[[random.Random, Notebook], None], ...] = (
    change_cell, change_cell, drop_key, change_cells, change_name, change_name, change_outputs, change_text,
    change_version, change_whole,
)  # fmt: skip


def mutated(rng: random.Random, notebook: Notebook) -> bytes:
    """A mutated notebook as the bytes of a file."""
    changed: Any = copy.deepcopy(notebook)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        rng.choice(CHANGES)(rng, changed)
    if rng.random() < 0.02:
        changed = copy.deepcopy(rng.choice([*ODD, [changed]]))
    text = json.dumps(changed, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))
    encoding = rng.choice(ENCODINGS) if rng.random() < 0.1 else "utf-8"
    halves = "surrogatepass" if encoding.startswith("utf") and rng.random() < 0.5 else "replace"
    data = text.encode(encoding, halves)
    if rng.random() < 0.05:
        data = rng.choice((data[: rng.randrange(len(data))], data + b"}", b"\n" + data, data.replace(b'"', b"'", 3)))
    return data


class Unmarked:
    """A worker pool that marks nothing: it keeps each task and gives it no points."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}

    def mark(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Marked]]:
        for task in tasks:
            self.tasks[task.student] = task
            if task.problem:
                yield task, Marked(failed(task, task.problem))
                continue
            results = tuple(ExerciseResult(one.name, (), one.points) for one in task.exercises or ())
            cells = tuple(CellResult() for _ in task.cells)
            yield task, Marked(Report(task.student, task.assignment, results, 0.0), cells)

    def close(self) -> None: ...


def disagreements(folder: Path, count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """A sentence for each notebook that the two commands read differently; how many were read and refused."""
    rng = random.Random(seed)
    course = small_course.small_course(folder / "course")
    assignment = course.assignment(small_course.NAME)
    notebook = json.loads(small_course.submit(course, "s00000").read_text())
    files = {f"s{number:05}": mutated(rng, notebook) for number in range(count)}
    for student, data in files.items():
        path = course.root / "submitted" / student / small_course.NAME / small_course.NOTEBOOK
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    version, locked = assignment.version(), assignment.locked_cells
    here = {one.student: as_task(one, version, locked) for one in find_submissions([course.root / "submitted"], course)}
    differences, found, workers = [], Counter[str](), Unmarked()

    def marked_now(self: Mark, task: Task, _: Any) -> Marked:
        differences.append(f"{task.student}: nbgrader's steps changed the cells to {task.cells!r:.300}")
        return next(iter(workers.mark([task])))[1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.nbgrader.autograde.Autograde.open_workers", lambda self, count: workers)
        patch.setattr(Mark, "_marked_now", marked_now)
        outcomes, _ = small_course.graded(course)
    reasons = {outcome.student: outcome.reason for outcome in outcomes}
    for student in files:
        task, reason = here[student], reasons.get(student, "no outcome at all")
        if (task.problem or None) != reason:
            differences.append(f"{student}: {task.problem!r} here, {reason!r} in nbgrader")
        elif not reason and workers.tasks[student].cells != task.cells:
            differences.append(f"{student}: other cells")
        found["refused" if reason else "read"] += 1
    return differences, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="0: a new one")
    asked = parser.parse_args()
    seed, began, total, wrong = asked.seed or random.randrange(1, 10**6), time.monotonic(), Counter[str](), 0
    for start in range(0, asked.count, 500):
        with tempfile.TemporaryDirectory() as folder:
            differences, found = disagreements(Path(folder), min(500, asked.count - start), seed + start)
        total, wrong = total + found, wrong + len(differences)
        for line in differences:
            print(f"seed {seed + start}: {line}")
    seconds = time.monotonic() - began
    print(f"{asked.count} notebooks from seed {seed}: {dict(total)}, {wrong} read differently, {seconds:.0f} s")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
