"""Changes real messages at random and reads them: nothing but the documented exceptions may come of it.

    python -m tools.fuzz --minutes 10        make fuzz

What is read here is untrusted: it comes from a student's process (answers, questions), from a judge that it may
have taken over (verdicts), from a file that was handed in (notebooks, saved models). Each input may take so many
seconds and so much memory. A failure is shown with its seed; `--seed` begins there.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import itertools
import json
import random
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import numpy as np
import pandas

from attention_course.saved_model import Unusable
from attention_course.saved_model import parse as parse_model
from autograder.diagnosis import relations
from autograder.diagnosis.differences import ComparedCall
from autograder.diagnosis.fingerprints import fingerprint_of
from autograder.errors import SubmissionError
from autograder.judge.exercise_calls import read
from autograder.report import CellResult, Picture, Verdict
from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.calls import Call, Failure, Reply, answer_bytes, answer_of, call_of
from autograder.sandbox.protocol.objects import Record
from autograder.sandbox.protocol.of_pandas import for_suite
from autograder.sandbox.protocol.scalars import Generated
from autograder.sandbox.protocol.tables import FRAME, Column, Table
from autograder.submission import code_cells, read_notebook
from autograder.testing.callback_cost import is_small
from autograder.testing.callbacks import Questions
from autograder.testing.cases import alike
from autograder.testing.comparing import same_answer
from autograder.testing.expect import kind_of
from autograder.testing.redaction import redacted
from autograder.testing.student import parts_of
from autograder.testing.tables import How, as_table, difference
from autograder.worker.verdict import BadVerdict, read_message
from tests.helpers.in_process import COURSE, judged, material

SECONDS, MEMORY = 4.0, 1.5 * 2**30  # of one input
SELDOM = 20  # a notebook takes that much longer to read than a message
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 255, 256, 512, 513, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1, 0.0, -0.0, 0.5,
    1e308, -1e-308, float("nan"), float("inf"), -float("inf"), "", "x", "softmax", "\0", "\x1b[2J", "\u202e", "x" * 300,
    b"", b"x",
    bytes(8), b"\xff" * 8, [], {}, [[]], [None], ["list", []], ["tuple", [1, 2]], ["dict", [["a", 1]]],
    ["other", ["type", "x"]], ["other", ["array", "x"]], ["other", "x"],
    ["array", "float64", [1], [0], False, bytes(8)], ["array", "float64", [1], [0], False, b"\xff" * 8],
    ["array", "bool", [2, 4], [1, 0], True, bytes(range(8))], ["array", "float64", [0, 2**40], [0, 1], False, b""],
    ["array", "int64", [], [], False, bytes(8)], ["tensor", "float32", [2], [0], True, bytes(8)],
    ["tensor", "float16", [2, 2], [0, 1], False, bytes(8)], ["scalar", "int64", [], [], False, b"\x00\xff" * 4],
    ["handle", ["softmax", ["x"], None]], ["handle", ["f", [], ["dict", []]]],
    ["set", [1, "a"]], ["set", [["set", []]]], ["frozenset", [["tuple", [1, ["list", []]]]]], ["record", ["P", []]],
    ["record", ["P", [["x", 1], ["shape", ["tuple", [2]]]]]], ["record", ["P", [["__class__", 1]]]],
    ["table", ["list", ["DataFrame", ["list", []], ["list", []], None, ["list", [None]], ["list", [None]]]]],
    "Series", "Index", "Timestamp", "category", "datetime64[ns]", "timedelta64[s]", "datetime64[us, Europe/Berlin]",
    "Int64", "period[M]", "interval[int64, right]", "string[pyarrow]", "object", ["list", ["object", ["list", ["a"]]]],
    ["integer", b"\xff" * 1661], ["integer", b""], ["decimal", "1E+9999"], ["decimal", "NaN"], ["decimal", "9" * 5000],
    ["fraction", [b"\x01", b"\x03"]], ["fraction", [b"\x01", b"\0"]], ["complex", [float("nan"), 1.0]], ["bytes", b"x"],
    ["datetime", "2024-01-02T03:04:05+23:59"], ["date", "9999-12-31"], ["time", "24:00"],
    ["timedelta", [999999999, 0, 0]], ["deque", [[1, 2], 1]], ["deque", [[1], 2**62]],
    ["generated", [[1], "map", True]], ["datetime", "0001-01-01"],
    ["dict", [[["tuple", [1]], 1], [["integer", bytes(9)], 2]]],
]  # fmt: skip
PLACES = 3000  # of an input that are changed; doubled again and again, there would be no end
BYTES = (b"\x00", b"\xff", b"\xc1", b"\x80", b"\xdd\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff")  # msgpack's own


@dataclass(frozen=True)
class Target:
    """What is read, from which real inputs, and how an input is changed."""

    read: Callable[[bytes], None]
    seeds: list[bytes]
    unpack: Callable[[bytes], Any] | None
    pack: Callable[[Any], bytes]


def targets() -> dict[str, Target]:
    """Everything that reads untrusted input."""
    warnings.simplefilter("ignore")
    _read_notebook(_notebooks()[-1])  # imports nbformat, which takes seconds
    calls, answers = _messages()
    packed = (functools.partial(msgpack.unpackb, strict_map_key=False), _packed)
    return {
        "frames.parse": Target(_allowing(frames.parse, frames.WireError), [*calls, *answers], *packed),
        "calls.answer_of": Target(_read_answer, answers, *packed),
        "calls.call_of": Target(_allowing(call_of, frames.WireError), calls, *packed),
        "questions.answer": Target(_Asking(), calls, *packed),
        "verdict.read_message": Target(_Verdicts.read, _Verdicts.seeds(), *packed),
        "submission.read_notebook": Target(_read_notebook, _notebooks(), json.loads, _as_json),
        "saved_model.parse": Target(_allowing(parse_model, Unusable), _models(), _header, _with_header),
    }


def _allowing(function: Callable[[bytes], Any], *allowed: type[Exception]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with contextlib.suppress(*allowed):
            function(data)

    return run


# ---------------------------------------------------------------- real inputs


@functools.cache
def _messages() -> tuple[list[bytes], list[bytes]]:
    """Calls and answers that suites make and hear, and some of other forms."""
    calls, answers = [], []
    for name in ("a1_scaled_dot_product", "a2_causal_masking", "a5_transformer_decoder"):
        recording = material(COURSE.assignment(name)).recording
        assert recording is not None
        for heard in recording.calls.values():
            calls += [one.place[0] for one in heard if len(one.place[0]) < 20_000][:2]
            answers += [one.answer for one in heard if len(one.answer) < 20_000][:2]
    answers += [answer_bytes(Reply(value, [value])) for value in _of_pandas()]
    library = [10**50, Decimal("1.5"), Fraction(1, 3), 1j, b"x", date(2024, 1, 2), timedelta(1), deque([1], 3)]
    answers.append(answer_bytes(Reply([*library, datetime(2024, 1, 2), Generated([1, 2]), {(1, 2): 3}, *_of_pandas()])))
    calls.append(Call("softmax", _of_pandas(), {"axis": library}).as_bytes)
    point = Record("Point", {"x": 1.5, "tags": {"a", "b"}, "rows": _RIGHT})
    answers += [answer_bytes(Reply(value, [value])) for value in (point, [point, {1, (2, 3)}], point["rows"])]
    calls.append(Call("softmax", [point, {1, 2}], {"axis": point["rows"]}).as_bytes)
    calls.append(Call("ready-made scaled_dot_product_attention", [np.ones((1, 2, 2))] * 3).as_bytes)
    return calls, answers


def _of_pandas() -> list[Any]:
    frame = pandas.DataFrame({"n": [1, 2], "w": ["a", None], "d": pandas.to_datetime(["2024-01-02", None])})
    frame["c"], frame["o"] = pandas.Categorical(["x", "y"], ordered=True), [1j, "x"]
    frame["z"] = frame["d"].dt.tz_localize("Europe/Berlin")
    return [frame, frame.set_index(["n", "c"]), frame["d"], frame.index, pandas.Timestamp("2024-01-02"), pandas.NaT]


class _Verdicts:
    exercises = COURSE.assignment("a1_scaled_dot_product").exercises

    @classmethod
    @functools.cache
    def seeds(cls) -> list[bytes]:
        results = judged(COURSE.assignment("a1_scaled_dot_product"), {"softmax": lambda x, axis=-1: x})
        cells = (
            CellResult("hello\n"),
            CellResult("", "ValueError", "no", (("f", 3, "x"),)),
            CellResult(stopped="it ended"),
        )
        data = msgspec.to_builtins(Verdict(tuple(results.values()), cells, "Saved model"))
        picture = Picture((((0.5, 0.5), (1.0, 0.0)),), ("a", "b"), ("c", "d"), False)
        drawn = json.loads(json.dumps(data)) | {"extra": ""}
        drawn["exercises"][0]["picture"] = json.loads(json.dumps(msgspec.to_builtins(picture)))
        return [frames.body({"verdict": data}), frames.body({"verdict": drawn})]

    @classmethod
    def read(cls, data: bytes) -> None:
        try:
            verdict = read_message(frames.parse(data), cls.exercises, 3).verdict
        except (BadVerdict, frames.WireError):
            return
        if verdict is None:  # what it was changed to asks for something else
            return
        # What is accepted is of the form that everything behind it relies on.
        for exercise, wanted in zip(verdict.exercises, cls.exercises, strict=True):
            assert exercise.name == wanted.name and 0 <= exercise.score <= exercise.max_score == wanted.points
            json.dumps(exercise.to_dict(), allow_nan=False)


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


def _models() -> list[bytes]:
    from safetensors.numpy import save

    return [
        save({"a": np.ones((2, 3), np.float32), "b": np.zeros(4, np.int64)}),
        save({"W": np.ones((0, 4), np.float16)}),
    ]


# ---------------------------------------------------------------- readers


def _read_answer(data: bytes) -> None:
    """As a judge does: the message, what comes of it, and what a report may quote."""
    read(data)
    try:
        answer = answer_of(data)
    except frames.WireError:
        return
    answer_bytes(redacted(answer, ["def softmax(x):\n    return x"], asked=False))
    answer_bytes(redacted(answer, [], asked=True))
    # What is done with every answer before a suite sees it, and with two of one call.
    same_answer(answer, answer)
    fingerprint_of(answer)
    if isinstance(answer, Reply):
        kind_of(answer.value)
        for_suite(answer.value)
        alike(answer.value, answer.value)
        _read_table(answer.value)


def _read_table(value: Any) -> None:
    """What a test and the diagnosis do with a table."""
    for table in parts_of(value):
        if isinstance(table, Table):
            as_table(for_suite(table))
            for how in (How(), How(row_order=False, dtypes=True, column_order=True)):
                difference(table, table, how)
                difference(table, _RIGHT, how)
                difference(_RIGHT, table, how)
            relations.explained_by_relations(
                [ComparedCall(Call("f", [table]), Reply(table), Reply(_RIGHT))], frozenset({0})
            )


_COLUMNS = [Column.of(np.arange(2)), Column.of(["a", None])]
_RIGHT = Table(FRAME, [Column.of(["n", "w"])], _COLUMNS, None, [None], [None])


class _Asking:
    """A question, answered by all references at once."""

    def __init__(self) -> None:
        self.all = []
        for name in ("a1_scaled_dot_product", "a2_causal_masking", "a5_transformer_decoder"):
            one = material(COURSE.assignment(name))
            assert one.recording is not None
            self.all.append(Questions(one.reference, tuple(one.reference), one.recording.array_functions))

    def __call__(self, data: bytes) -> None:
        try:
            question = call_of(data)
        except frames.WireError:
            return
        is_small(question)
        for questions in self.all:
            questions.prepare(Call("x"))
            questions._seconds = 20.0
            answer = questions.answer(question)
            assert isinstance(answer, Reply | Failure)
            answer_bytes(answer)


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


# ---------------------------------------------------------------- changes


def _packed(data: Any) -> bytes:
    return bytes(msgpack.packb(data, unicode_errors="surrogatepass"))


def _as_json(data: Any) -> bytes:
    return json.dumps(data, default=lambda value: value.decode("latin-1")).encode()


def _header(data: bytes) -> Any:
    (size,) = struct.unpack("<Q", data[:8])
    return [json.loads(data[8 : 8 + size]), data[8 + size :].decode("latin-1")]


def _with_header(data: Any) -> bytes:
    head, rest = data if isinstance(data, list) and len(data) == 2 else (data, "")
    text = _as_json(head)
    return struct.pack("<Q", len(text)) + text + (rest.encode("latin-1", "replace") if isinstance(rest, str) else b"")


def changed(target: Target, rng: random.Random) -> bytes:
    """A real input with some things changed: its parts, its bytes, or both."""
    data = rng.choice(target.seeds)
    if target.unpack is not None and rng.random() < 0.8:
        tree = [target.unpack(data)]
        try:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
                _change(tree, rng)
            data = target.pack(tree[0])
        except (ValueError, TypeError, OverflowError, RecursionError):
            return data
        if rng.random() < 0.8:
            return data
    return _with_changed_bytes(data, rng)


def _change(tree: list[Any], rng: random.Random) -> None:
    """Change one place: something odd there, nothing, twice the same, something from elsewhere, a level more."""
    places = list(itertools.islice(_places(tree), PLACES))
    place, key = rng.choice(places)
    how = rng.randrange(8)
    if how == 0 and len(place) > 1 and place is not tree:
        del place[key]
    elif how == 1 and isinstance(place, list) and place is not tree and len(places) < PLACES // 10:
        place[key:key] = [place[key]] * rng.choice((1, 2, 50))
    elif how == 2:
        place[key] = [place[key]]
    elif how == 3:
        other, its = rng.choice(places)
        place[key] = _copied(other[its])
    elif how == 4 and isinstance(place, dict):
        place[rng.choice([odd for odd in ODD if isinstance(odd, str | int | float | None)])] = place[key]
    elif how == 5 and isinstance(place[key], int):
        place[key] += rng.choice((-1, 1, 2, 64))
    elif how == 6:
        for _ in range(rng.choice((20, 400, 1500))):
            place[key] = [place[key]] if rng.random() < 0.9 else ["list", [place[key]]]
    else:
        place[key] = _copied(rng.choice(ODD))


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_copied, value))
    return {key: _copied(one) for key, one in value.items()} if isinstance(value, dict) else value


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    left = [tree]
    while left:
        one = left.pop()
        for key, value in list(enumerate(one) if isinstance(one, list) else one.items()):
            yield one, key
            if isinstance(value, list | dict):
                left.append(value)


def _with_changed_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(changed) + 1)
        how = rng.randrange(4)
        if how == 0:
            changed[place : place + rng.choice((1, 1, 4, 100))] = b""
        elif how == 1:
            changed[place:place] = rng.randbytes(rng.choice((1, 1, 4, 100)))
        elif how == 2:
            changed[place : place + 1] = rng.choice(
                (b"\x00", b"\xff", b"\xc1", b"\x80", b"\xdd\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff")
            )
        else:
            changed[place : place + 1] = bytes([rng.randrange(256)])
    return bytes(changed)


# ---------------------------------------------------------------- running


def run_one(target: Target, seed: int) -> float:
    """Read one input; the seconds that took."""
    data = changed(target, random.Random(seed))
    start = time.process_time()
    target.read(data)
    return time.process_time() - start


def main() -> int:
    """Read changed inputs for some minutes; the number of failures, by target and kind."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    known = {name: target for name, target in targets().items() if options.only in name}
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (int(held + MEMORY), resource.RLIM_INFINITY))
    failures: dict[tuple[str, str], int] = {}
    counts: collections.Counter[str] = collections.Counter()
    slowest: dict[str, float] = collections.defaultdict(float)
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
                failures[kind] = failures.get(kind, 0) + 1
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
