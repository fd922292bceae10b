"""What hypotheses answer: known mistakes and mutants. On planned calls that is known in advance, as fingerprints.

A fingerprint is two numbers by which an answer is looked up. Equal answers have equal fingerprints, up to rounding;
different answers hardly ever do. The first number depends on the value. The second depends on all that comes with it:
arguments afterwards, gradients, and the shapes of parameters.

Running all hypotheses takes a minute of processor time; reading `fingerprints.npz`, a file beside the exercises, takes
a millisecond. `autograder dev catalogue` writes it. If the catalogue or the suite's calls have changed since then, the
hypotheses are run on a few calls each, and on the rest while they are candidates, as if there were no file. So they are
on calls that were not planned.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from autograder.course.loading import in_time
from autograder.testing.callbacks import passes_functions
from autograder.testing.catalogue import Catalogue, Mistake
from autograder.testing.functions import COURSE_SECONDS, TOO_SLOW, AnsweredCall, Key, answering, has_chance, quiet
from autograder.testing.plan import PlannedCall
from autograder.testing.tolerances import COARSER, FINGERPRINT, OF_LARGE
from cellcage.calling.perform import perform
from cellcage.protocol.calls import Answer, Call, Failure, NoAnswer, Reply, Why, answer_bytes, answer_of
from cellcage.values.value import Generated, Other, changed, float_of, is_tensor, numbers
from cellcage.values.value_type import compared, inside

MAX_PARTS = 20_000  # parts of an answer that count, and numbers of a part
NOT_A_NUMBER, ENDLESS, HUGE = 1234.5, 54321.0, 1e9
FILE = "fingerprints.npz"
DIGITS = 5  # after the point, of an input; correct ones differ by 1e-15 between machines
UNIT = 1e-5  # fingerprints are saved as multiples of it, a tenth of what tells two of them apart
LARGEST = 1e13  # so that they fit into eight bytes
STAMP, MADE_FROM = "what it is of", "made from"  # entries of the file that hold digests
ARRAYS = ("right", "wrong")
FEW = 5  # planned calls on which each hypothesis is run if no fingerprints are saved
_weights = np.random.default_rng(17).normal(size=MAX_PARTS)


def fingerprint_of(answer: Answer) -> tuple[float, float]:
    """The fingerprint of a call's answer: of the value, and of all that comes with it. Failures have one, too."""
    if not isinstance(answer, Reply):
        return _of_text(f"{answer.kind} {answer.error}" if isinstance(answer, Failure) else "nothing"), 0.0
    shapes = " ".join(f"{name}{shape}" for name, shape in sorted(answer.shapes.items()))
    with np.errstate(all="ignore"):
        rest = _of_value([answer.inputs, answer.gradients, answer.parameters]) + _of_text(shapes)
        return _of_value(answer.value), rest


def as_compared(answer: Answer) -> Answer:
    """The answer with its value in the form that tests compare: a table, however its columns are ordered.

    A number becomes NumPy's, so that it is compared up to rounding. Beside other values it has no dtype that could be
    wrong, such as a loss that comes as a float or as a tensor.
    """
    if not isinstance(answer, Reply):
        return answer
    value = compared(answer.value)
    if isinstance(value, tuple | list):
        value = changed(value, lambda item: item.item() if isinstance(item, np.float32) else item)
    value = np.float64(value) if isinstance(value, float) else value
    return answer if value is answer.value else replace(answer, value=value)


def alike(first: np.ndarray, second: np.ndarray) -> Any:
    """Whether fingerprints are of equal answers, for each place of two arrays of fingerprints."""
    return np.abs(first - second) <= FINGERPRINT * (1 + OF_LARGE * np.abs(first))


def _of_value(value: Any) -> float:
    total, kinds = 0.0, []
    for i, (kind, values) in enumerate(islice(_leaves(value), MAX_PARTS)):
        kinds.append(kind)
        if values is not None:
            part = float(values @ _weights[: len(values)])
            if not abs(part) < HUGE:
                values = np.nan_to_num(values, nan=NOT_A_NUMBER, posinf=ENDLESS, neginf=-ENDLESS).clip(-HUGE, HUGE)
                part = float(values @ _weights[: len(values)])
            total += (1 + 0.1 * i) * part
    return total + _of_text(" ".join(kinds))


def _leaves(value: Any) -> Iterator[tuple[str, np.ndarray | None]]:
    """Every array and plain value inside a value: its kind, and its numbers if it has any."""
    if hasattr(value, "dtype"):
        array = numbers(value)
        kind = f"{type(value).__name__}{array.dtype.str}{array.shape}"
        if array.dtype.kind not in "biuf":
            yield kind, None
        elif array.dtype.kind == "f" and array.dtype != np.float64:
            yield kind, array.ravel()[:MAX_PARTS].astype(float) / COARSER
        else:
            yield kind, array.ravel()[:MAX_PARTS]
    elif (held := inside(value)) is not value:
        yield from _leaves(held)
    elif isinstance(value, set | frozenset):
        yield f"{type(value).__name__}{sorted(map(repr, value))!s:.100}", None
    elif isinstance(value, list | tuple) and value and all(type(item) in (int, float, bool) for item in value):
        kinds = "".join(type(item).__name__[0] for item in value)
        yield f"{type(value).__name__}{kinds}", np.array([float_of(item) for item in value[:MAX_PARTS]])
    elif isinstance(value, complex):
        yield "complex", np.array([value.real, value.imag])
    elif isinstance(value, list | tuple | dict | deque | Generated):
        yield f"{type(value).__name__}{len(value)}", None
        # The sandbox's protocol does not keep the order of a dict's keys.
        for item in [value[key] for key in sorted(value, key=str)] if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield f"{type(value).__name__}{_short_text(value)}", None


def answer_digest(call: Call, answer: Reply | Failure) -> str:
    """Sixteen letters, the same for equal answers to a call; rounding hardly ever makes a difference."""
    if isinstance(answer, Failure):
        found: Any = answer.kind.name, answer.error
    else:
        found = _outline([answer.value, answer.inputs, answer.gradients, answer.parameters, answer.shapes])
    return hashlib.sha256(call.as_bytes + repr(found).encode("utf-8", "replace")).hexdigest()[:16]


def _outline(value: Any) -> Any:
    """Plain values that are equal for equal answers: numbers are rounded, arrays are summed up."""
    if isinstance(value, Other):
        return value.form.name, value.type_name
    if hasattr(value, "dtype"):
        array = numbers(value)
        if not array.ndim:
            return _outline(array.item())
        return array.shape, _sums(array) if array.dtype.kind in "fc" else array.tolist()
    if (held := inside(value)) is not value:
        return _outline(held)
    if isinstance(value, list | tuple | deque | Generated):
        return type(value).__name__, list(map(_outline, value))
    if isinstance(value, dict):
        return sorted((repr(key), _outline(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1000
    return _four_digits(value) if small or isinstance(value, float | complex) else value


def _sums(array: np.ndarray) -> list[Any]:
    """Of an array its size, and two weighted sums as shares of it; NaN and infinity are only counted."""
    flat, places = array.ravel().astype(complex), np.arange(array.size)
    whole = np.isfinite(flat)
    flat, size = np.where(whole, flat, 0), float(np.abs(flat[whole]).sum())
    shares = [complex((flat * np.cos(turn * places)).sum()) / (size or 1.0) for turn in (1, 2)]
    return [int(whole.sum()), *map(_four_digits, [size, *shares])]


def _four_digits(number: complex) -> str:
    """A number in four digits; of one below 1, three behind the point. -0 is 0."""
    if isinstance(number, complex):
        return f"{_four_digits(number.real)} {_four_digits(number.imag)}"
    return f"{number:.4g}" if abs(number) >= 1 else f"{round(number, 3) + 0.0:.3f}"


def _short_text(value: Any) -> str:
    """A value as text; of a long text only the beginning and a digest remain."""
    text = str(value)
    return text if len(text) <= 100 else f"{text:.100}{_of_text(text)}"


def _of_text(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=3).digest()) / 1e5


@dataclass(frozen=True)
class Fingerprints:
    """What the reference and the hypotheses on an exercise answer to its calls.

    of: a digest of the calls and of the hypotheses' names
    right: the reference's answers, with axes (call, the two numbers)
    wrong: the hypotheses' answers, with axes (hypothesis, call, the two numbers)
    """

    of: str
    right: np.ndarray
    wrong: np.ndarray

    def fits(self, of: str, right: np.ndarray) -> bool:
        """True if calls and hypotheses are the same, and the reference's answers are those of this machine."""
        return self.of == of and self.right.shape == right.shape and bool(alike(self.right, right).all())


def _digest_of(parts: Sequence[bytes]) -> str:
    """A digest of some bytes, as hexadecimal digits."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()


def _rounded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.round(value, DIGITS) + 0.0 if value.dtype.kind == "f" else value
    if not getattr(getattr(value, "dtype", None), "is_floating_point", False):
        return value
    return (value.detach() * 10**DIGITS).round() / 10**DIGITS + 0.0


def write(folder: Path, fingerprints: Mapping[str, Fingerprints], made_from: str) -> Path:
    """Write the fingerprints of an assignment's exercises into its `folder`. made_from: a digest of their inputs"""
    arrays = {
        f"{name}.{part}": np.rint(np.clip(np.nan_to_num(getattr(one, part)), -LARGEST, LARGEST) / UNIT).astype(np.int64)
        for name, one in fingerprints.items()
        for part in ARRAYS
    }
    stamps = [stamp(folder, "*mistakes.py"), *(f"{name} {one.of}" for name, one in fingerprints.items())]
    entries = {STAMP: np.array(stamps), MADE_FROM: np.array(made_from)}
    np.savez_compressed(folder / FILE, allow_pickle=False, **entries, **arrays)
    return folder / FILE


def arrays_in(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name; none if it is missing or cannot be read."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return {}


def made_from(folder: Path) -> str:
    """The digest that was given to `write`; empty if there is none."""
    return str(arrays_in(folder / FILE).get(MADE_FROM, ""))


def read(folder: Path) -> dict[str, Fingerprints]:
    """The fingerprints of an assignment's exercises; none without a file, or if the catalogue has changed since."""
    arrays = arrays_in(folder / FILE)
    written, *exercises = map(str, arrays.get(STAMP, [""]))
    if written != stamp(folder, "*mistakes.py"):
        return {}
    return {
        name: Fingerprints(of, *(arrays[f"{name}.{part}"] * UNIT for part in ARRAYS))
        for name, of in map(str.split, exercises)
    }


def stamp(folder: Path, *patterns: str) -> str:
    """A digest of the files of these names in an assignment's folder, and of what they may import."""
    files = [path for pattern in patterns for path in folder.rglob(pattern)]
    return _digest_of([path.read_bytes() for path in sorted([*files, *(folder.parent / "hidden").rglob("*.py")])])


class AnswerTable:
    """What an exercise's hypotheses answer, as fingerprints, with a row for each hypothesis and a column for each call.

    mistakes, rows: the hypotheses in the order of the rows, and the row of each
    columns: the column of each call
    """

    def __init__(self, fingerprints: Fingerprints, mistakes: Sequence[Mistake], calls: Sequence[Key]) -> None:
        self._fingerprints, self.mistakes = fingerprints, mistakes
        self.rows = {mistake: row for row, mistake in enumerate(mistakes)}
        self.columns = {key: column for column, key in enumerate(calls)}

    def alike(self, answers: Sequence[Answer], columns: Sequence[int | None]) -> tuple[np.ndarray, np.ndarray]:
        """Which hypotheses give these answers: for whole answers, and for values only. Axes: hypothesis, answer.

        columns: of each answer; where it is None, nothing is alike
        """
        same = np.zeros((len(self.mistakes), len(answers), 2), dtype=bool)
        for place, (answer, column) in enumerate(zip(answers, columns, strict=True)):
            if column is not None:
                same[:, place] = alike(self._fingerprints.wrong[:, column], np.array(fingerprint_of(answer)))
        return np.logical_and.reduce(same, axis=-1), same[..., 0]


class Hypotheses:
    """What the reference and each hypothesis of an assignment answer. Each is run on a call at most once.

    planned: by exercise, the calls that the suite will make, and the reference's answers; empty if tests pass functions
        or models
    saved: fingerprints from a file, by exercise; if they do not fit, hypotheses are run on a few of the calls
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: Mapping[str, Any],
        planned: Mapping[str, Sequence[PlannedCall]],
        saved: Mapping[str, Fingerprints],
    ) -> None:
        self._catalogue, self._names, self._planned, self._saved = catalogue, names, planned, saved
        self._tables: dict[str, AnswerTable] = {}
        self._answers: dict[tuple[Mistake | None, Key], Answer] = {}

    def table(self, exercise: str) -> AnswerTable:
        """The table of an exercise's hypotheses, made on first use."""
        if exercise not in self._tables:
            mistakes, calls = self._mistakes(exercise), self._repeatable_calls(exercise)
            saved = self._saved.get(exercise)
            if saved is None or not saved.fits(_digest(calls, mistakes), _right(calls)):
                calls = calls[:FEW]
                saved = self._run(mistakes, calls)
            self._tables[exercise] = AnswerTable(saved, mistakes, [one.key for one in calls])
        return self._tables[exercise]

    def fingerprints(self, exercise: str) -> Fingerprints:
        """The fingerprints of an exercise's hypotheses; each is run on each planned call."""
        return self._run(self._mistakes(exercise), self._repeatable_calls(exercise))

    def answered(self, calls: Sequence[AnsweredCall | PlannedCall]) -> list[AnsweredCall]:
        """Calls that were answered, each once, without those of a module whose parameters start random."""
        found: dict[Key, AnsweredCall] = {}
        for one in calls:
            if (made := one.call.instance) is not None and not one.call.build and not made.parameters:
                continue
            if isinstance(one, PlannedCall):  # the student's answer equals the reference's
                answer = self._answers.get((None, (one.place[0], ()))) or answer_of(one.answer)
            elif isinstance(one.answer, NoAnswer):
                continue
            else:
                answer = _as_data(one.call, one.answer)
            with_answer = AnsweredCall(one.call, answer)
            found[with_answer.key] = with_answer
        return [AnsweredCall(one.call, as_compared(one.answer)) for one in found.values()]

    def answer(self, mistake: Mistake | None, one: AnsweredCall) -> Answer:
        """What a hypothesis answers to a call, or the reference if `mistake` is None."""
        if (mistake, one.key) not in self._answers:
            names = self._names if mistake is None else {**self._names, mistake.exercise: mistake.code}
            self._answers[mistake, one.key] = as_compared(_answer(names, one.call))
        return self._answers[mistake, one.key]

    def _mistakes(self, exercise: str) -> list[Mistake]:
        return [m for m in (*self._catalogue.mistakes, *self._catalogue.variants) if m.exercise == exercise]

    def _repeatable_calls(self, exercise: str) -> list[AnsweredCall]:
        """The planned calls that have the same answer each time, and pass no functions; each once."""
        found: dict[Key, AnsweredCall] = {}
        for recorded in self._planned.get(exercise, ()):
            one = AnsweredCall(recorded.call, as_compared(answer_of(recorded.answer)))
            found.setdefault(one.key, one)
        self._answers |= {(None, key): one.answer for key, one in found.items()}
        return [one for one in found.values() if not one.key[1] and not has_chance(one.call, one.answer)]

    def _run(self, mistakes: Sequence[Mistake], calls: Sequence[AnsweredCall]) -> Fingerprints:
        """The fingerprints of these hypotheses, run on these calls."""
        wrong = np.empty((len(mistakes), len(calls), 2))
        for row, mistake in enumerate(mistakes):
            answer = answering({**self._names, mistake.exercise: mistake.code})
            for column, one in enumerate(calls):
                wrong[row, column] = fingerprint_of(as_compared(answer(one.call)))
        return Fingerprints(_digest(calls, mistakes), _right(calls), wrong)


def _digest(calls: Sequence[AnsweredCall], mistakes: Sequence[Mistake]) -> str:
    """A digest of calls and hypotheses that is the same on every machine.

    A suite may pass on what the reference has answered, and its last digits depend on the processor.
    """
    names = [mistake.name.encode() for mistake in mistakes]
    return _digest_of([*(one.call.with_given(_rounded).as_bytes for one in calls), *names])


def _right(calls: Sequence[AnsweredCall]) -> np.ndarray:
    """The fingerprints of the reference's answers, of shape (calls, 2)."""
    return np.array([fingerprint_of(one.answer) for one in calls]).reshape(-1, 2)


def _answer(names: Mapping[str, Any], call: Call) -> Answer:
    """What trusted names answer. They call functions and models among the arguments themselves, without a sandbox."""
    if not passes_functions(call):
        return answering(names)(call)
    late = NoAnswer(Why.TOO_SLOW, TOO_SLOW.format(seconds=COURSE_SECONDS))
    with quiet():
        found = in_time(COURSE_SECONDS, lambda: perform(dict(names), call.with_given(_copied)), lambda: late)
    return found if isinstance(found, NoAnswer) else _as_data(call, answer_of(answer_bytes(found)))


def _as_data(call: Call, answer: Answer) -> Answer:
    """An answer without the functions among its inputs, which are other objects on each side of a sandbox."""
    if not isinstance(answer, Reply) or not passes_functions(call):
        return answer
    inputs = call.positional if answer.inputs is None else answer.inputs
    return replace(answer, inputs=[one for one in inputs if not isinstance(one, Other) and not callable(one)])


def _copied(value: Any) -> Any:
    """A copy that a mistake may write into."""
    if is_tensor(value):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray | list) else value
