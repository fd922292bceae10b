"""Mutate real messages at random and read them: only the documented exceptions may be raised.

    python -m tools.fuzz --minutes 10        make fuzz

All of these inputs are untrusted. Answers and questions come from a student's process, verdicts and questions about a
notebook from a judge that this process may have taken over, notebooks from a submission. Time and memory for one input
are limited. A failure is printed with its seed; `--seed` starts from that seed.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import numpy as np
import pandas
import psutil

from autograder.errors import SubmissionError
from autograder.explain import relations
from autograder.explain.fingerprints import fingerprint_of
from autograder.explain.relations import ComparedCall
from autograder.judge.redaction import without_words
from autograder.report import CellResult, Picture, Verdict
from autograder.submission import code_cells, read_notebook
from autograder.task import read_message
from autograder.testing.callbacks import Questions, is_small
from autograder.testing.cases import alike
from autograder.testing.comparing import same_answer
from autograder.testing.mismatch import kind_of
from cellcage.notebook_calls import read
from cellcage.protocol import frames
from cellcage.protocol.calls import Call, Failure, Reply, answer_bytes, answer_of, call_of
from cellcage.protocol.messages import MAX_STATUS, AboutChild, HowEnded, HowMuch
from cellcage.values.tables.comparison import How, difference
from cellcage.values.tables.table import FRAME, Column, Table
from cellcage.values.value import Generated, Record, parts_of
from cellcage.values.value_type import described, for_caller
from tests.helpers.in_process import COURSE, judged, material
from tools.fuzz_changes import changed

SECONDS, MEMORY = 4.0, 1.5 * 2**30  # limits for one input
SELDOM = 20  # reading a notebook takes this many times as long as reading a message
ASSIGNMENTS = ("a1_scaled_dot_product", "a2_causal_masking", "a5_transformer_decoder")
EXERCISES = COURSE.assignment("a1_scaled_dot_product").exercises  # of the verdicts


@dataclass(frozen=True)
class Target:
    """A reader of untrusted bytes, real inputs for it, and how to unpack and repack an input."""

    read: Callable[[bytes], None]
    seeds: list[bytes]
    unpack: Callable[[bytes], Any]
    pack: Callable[[Any], bytes]


def targets() -> dict[str, Target]:
    """All readers of untrusted input, by name."""
    warnings.simplefilter("ignore")
    _read_notebook(_notebooks()[-1])  # imports nbformat, which takes seconds
    calls, answers = _messages()
    questions = [frames.body(one) for one in (HowMuch(), HowMuch(measures=True), HowEnded(ends=False))]
    packed = (functools.partial(msgpack.unpackb, strict_map_key=False), _packed)
    return {
        "frames.parse": Target(_allowing(frames.parse, frames.WireError), [*calls, *answers], *packed),
        "calls.answer_of": Target(_read_answer, answers, *packed),
        "calls.call_of": Target(_allowing(call_of, frames.WireError), calls, *packed),
        "questions.answer": Target(_ask, calls, *packed),
        "frames.receive_whole": Target(_read_question, questions, *packed),
        "task.read_message": Target(_read_verdict, verdicts(), *packed),
        "submission.read_notebook": Target(_read_notebook, _notebooks(), json.loads, _as_json),
    }


def _allowing(function: Callable[[bytes], Any], *allowed: type[Exception]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with contextlib.suppress(*allowed):
            function(data)

    return run


# ---------------------------------------------------------------- real inputs


@functools.cache
def _messages() -> tuple[list[bytes], list[bytes]]:
    """Recorded calls and answers of hidden tests, and some with other types of values."""
    calls, answers = [], []
    for name in ASSIGNMENTS:
        for heard in material(COURSE.assignment(name)).plan.by_test.values():
            calls += [one.place[0] for one in heard if len(one.place[0]) < 20_000][:2]
            answers += [one.answer for one in heard if len(one.answer) < 20_000][:2]
    answers += [answer_bytes(Reply(value, [value])) for value in _of_pandas()]
    library = [10**50, 1j, b"x", deque([1], 3)]
    answers.append(answer_bytes(Reply([*library, Generated([1, 2]), {(1, 2): 3}, *_of_pandas()])))
    calls.append(Call("softmax", _of_pandas(), {"axis": library}).as_bytes)
    point = Record("Point", {"x": 1.5, "tags": {"a", "b"}, "rows": _RIGHT})
    answers += [answer_bytes(Reply(value, [value])) for value in (point, [point, {1, (2, 3)}], point["rows"])]
    calls.append(Call("softmax", [point, {1, 2}], {"axis": point["rows"]}).as_bytes)
    return calls, answers


def _of_pandas() -> list[Any]:
    frame = pandas.DataFrame({"n": [1, 2], "w": ["a", None], "d": pandas.to_datetime(["2024-01-02", None])})
    frame["c"], frame["o"] = pandas.Categorical(["x", "y"], ordered=True), [1j, "x"]
    frame["z"] = frame["d"].dt.tz_localize("Europe/Berlin")
    return [frame, frame.set_index(["n", "c"]), frame["d"], frame.index, pandas.Timestamp("2024-01-02"), pandas.NaT]


@functools.cache
def verdicts() -> list[bytes]:
    """Two verdicts on a submission, the second with a picture."""
    results = judged(COURSE.assignment("a1_scaled_dot_product"), {"softmax": lambda x, axis=-1: x})
    cells = CellResult("hello\n"), CellResult("", "ValueError", "no", (("f", 3, "x"),)), CellResult(stopped="it ended")
    data = msgspec.to_builtins(Verdict(tuple(results.values()), cells))
    picture = Picture((((0.5, 0.5), (1.0, 0.0)),), ("a", "b"), ("c", "d"), False)
    drawn = json.loads(json.dumps(data))
    drawn["exercises"][0]["picture"] = json.loads(json.dumps(msgspec.to_builtins(picture)))
    return [frames.body({"verdict": data}), frames.body({"verdict": drawn})]


def _notebooks() -> list[bytes]:
    whole = min((COURSE.root / "source").rglob("*.ipynb"), key=lambda path: path.stat().st_size).read_bytes()
    check = {"cell_type": "code", "id": "a", "metadata": {"nbgrader": {"grade_id": "check-x"}}, "source": ["x\n", "y"]}
    words = {"cell_type": "markdown", "metadata": {}, "source": "# x", "attachments": {"a.png": {"image/png": "AAAA"}}}
    small = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [check | {"outputs": []}, words]}
    cell = {"cell_type": "code", "input": ["x"], "language": "python", "outputs": [], "collapsed": False}
    old: dict[str, Any] = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "x"}}
    old["worksheets"] = [{"cells": [cell], "metadata": {}}]
    older = {"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "code", "input": "x", "outputs": []}]}]}
    return [whole, *(json.dumps(one).encode() for one in [small, old, older] * 20)]


# ---------------------------------------------------------------- readers


def _read_answer(data: bytes) -> None:
    """Read an answer as a judge does, down to what a report may quote."""
    read(data)
    try:
        answer = answer_of(data)
    except frames.WireError:
        return
    answer_bytes(without_words(answer, ["def softmax(x):\n    return x"]))
    # Each answer goes through these before a hidden test sees it, or when two answers to one call are compared.
    same_answer(answer, answer)
    fingerprint_of(answer)
    if isinstance(answer, Reply):
        kind_of(answer.value)
        for_caller(answer.value)
        alike(answer.value, answer.value)
        _read_table(answer.value)


def _read_table(value: Any) -> None:
    """Compare tables as tests and the diagnosis do."""
    for table in parts_of(value):
        if isinstance(table, Table):
            described(for_caller(table))
            for how in (How(), How(row_order=False, dtypes=True, column_order=True)):
                difference(table, table, how)
                difference(table, _RIGHT, how)
                difference(_RIGHT, table, how)
            compared = ComparedCall(Call("f", [table]), Reply(table), Reply(_RIGHT))
            relations.relation_among([compared], frozenset({0}), ())


_COLUMNS = [Column.of(np.arange(2)), Column.of(["a", None])]
_RIGHT = Table(FRAME, [Column.of(["n", "w"])], _COLUMNS, None, [None], [None])


@functools.cache
def _references() -> list[Questions]:
    found = []
    for name in ASSIGNMENTS:
        one = material(COURSE.assignment(name))
        assert one.plan is not None
        found.append(Questions(one.reference, tuple(one.reference), one.plan.array_functions))
    return found


def _ask(data: bytes) -> None:
    """Put a question to the references of all assignments."""
    try:
        question = call_of(data)
    except frames.WireError:
        return
    is_small(question)
    for questions in _references():
        questions.prepare(Call("x"))
        questions._seconds = 20.0
        answer = questions.answer(question)
        assert isinstance(answer, Reply | Failure)
        answer_bytes(answer)


def _read_question(data: bytes) -> None:
    """Read a question about a child as a fork server does."""
    for sent in (frames.framed(data), data):
        ours, theirs = frames.pair()
        with ours, theirs, contextlib.suppress(frames.Closed, frames.WireError, BlockingIOError):
            frames.send_all(ours, sent[: 2 * MAX_STATUS])
            frames.receive_whole(theirs, MAX_STATUS, AboutChild)


def _read_verdict(data: bytes) -> None:
    try:
        verdict = read_message(frames.parse(data), EXERCISES, 3).verdict
    except frames.WireError:
        return
    if verdict is None:  # the mutated message is a request
        return
    # An accepted verdict has the form that all later code relies on.
    for exercise, wanted in zip(verdict.exercises, EXERCISES, strict=True):
        assert exercise.name == wanted.name and 0 <= exercise.score <= exercise.max_score == wanted.points
        json.dumps(exercise.to_dict(), allow_nan=False)


def _read_notebook(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".ipynb") as file:
        file.write(data)
        file.flush()
        try:
            notebook = read_notebook(Path(file.name))
        except SubmissionError:
            return
    for cell in code_cells(notebook):
        frames.body({"cells": [cell.source]})


# ---------------------------------------------------------------- inputs in parts and back


def _packed(data: Any) -> bytes:
    return bytes(msgpack.packb(data, unicode_errors="surrogatepass"))


def _as_json(data: Any) -> bytes:
    return json.dumps(data, default=lambda value: value.decode("latin-1")).encode()


# ---------------------------------------------------------------- running


def run_one(target: Target, seed: int) -> float:
    """Read one mutated input and return the processor seconds that this took."""
    rng = random.Random(seed)
    data = changed(rng.choice(target.seeds), target.unpack, target.pack, rng)
    start = time.process_time()
    target.read(data)
    return time.process_time() - start


def main() -> int:
    """Read mutated inputs for some minutes and print the failures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    known = {name: target for name, target in targets().items() if options.only in name}
    held = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (int(held + MEMORY), resource.RLIM_INFINITY))
    failures, counts = Counter[tuple[str, str]](), Counter[str]()
    slowest: dict[str, float] = defaultdict(float)
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        for name, target in [one for one in known.items() if "notebook" not in one[0] or seed % SELDOM == 0]:
            counts[name] += 1
            try:
                seconds = run_one(target, seed)
                slowest[name] = max(seconds, slowest[name])
                assert seconds < SECONDS, f"{seconds:.1f} seconds"
            except Exception as error:
                kind = (name, type(error).__name__)
                failures[kind] += 1
                if failures[kind] == 1:
                    print(f"{name}, seed {seed}:", file=sys.stderr)
                    traceback.print_exc(limit=-6)
        seed += 1
    for name in known:
        print(f"{name:28} {counts[name]:8,} inputs, the slowest {slowest[name]:.2f} s")
    for (name, kind), count in failures.items():
        print(f"{name}: {kind}, {count} times")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
