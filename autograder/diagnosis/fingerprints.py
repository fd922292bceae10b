"""An answer as two numbers, to look up who gives it, and what every hypothesis answers, kept in a file.

Equal answers have equal prints, to rounding; others hardly ever. The first is of the value. The second is of all that
comes with it: arguments afterwards, gradients, and the shapes of parameters.

To ask all hypotheses takes a minute of processor time; to read `fingerprints.npz`, which stands beside the exercises, a
millisecond. `autograder dev catalogue` writes it. If the catalogue has changed since, or the suite asks something else,
the hypotheses are asked a few calls each, and the rest when they are in question, as if there were no file.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from autograder.sandbox.protocol.calls import Answer, Call, Failure, Reply
from autograder.sandbox.protocol.objects import Record
from autograder.sandbox.protocol.scalars import MAX_DIGITS, Generated
from autograder.sandbox.protocol.tables import Table
from autograder.testing.comparing import float_of, numbers

MOST = 20_000  # parts of an answer that count, and numbers of a part
NOT_A_NUMBER, ENDLESS, HUGE = 1234.5, 54321.0, 1e9
# Float64 answers in another order of steps differ by 1e-12, with a root that is kept in float32 by 1e-6; two answers by
# 1 on the average.
TOLERANCE, OF_LARGE = 1e-4, 1e-2
COARSER = 100  # is what tells float32 answers apart, which honestly differ by 3e-6, of large scores by 2e-4
FILE = "fingerprints.npz"
EXACT = Context(prec=2 * MAX_DIGITS)
DIGITS = 5  # behind the point, of an input; honest ones differ by 1e-15 from machine to machine
UNIT = 1e-5  # prints are kept as whole multiples of it, a tenth of what tells two of them apart
LARGEST = 1e13  # so that they fit into eight bytes
WHAT_IT_IS, MADE_FROM = "what it is of", "made from"  # entries that hold digests
_weights = np.random.default_rng(17).normal(size=MOST)


def fingerprint_of(answer: Answer) -> tuple[float, float]:
    """The fingerprints of what a call gave, or of its failure: of the value, and of all that comes with it."""
    if not isinstance(answer, Reply):
        return _of_text(f"{answer.kind} {answer.error}" if isinstance(answer, Failure) else "nothing"), 0.0
    shapes = " ".join(f"{name}{shape}" for name, shape in sorted(answer.shapes.items()))
    with np.errstate(all="ignore"):
        return _of(answer.value), _of([answer.inputs, answer.gradients, answer.parameters]) + _of_text(shapes)


def alike(one: np.ndarray, other: np.ndarray) -> Any:
    """Are prints (two arrays of them, place by place) of one answer?"""
    return np.abs(one - other) <= TOLERANCE * (1 + OF_LARGE * np.abs(one))


def apart(one: np.ndarray, other: np.ndarray) -> Any:
    """Are they of two answers, beyond all doubt?"""
    return ~(np.abs(one - other) <= 100 * TOLERANCE * (1 + OF_LARGE * np.abs(one)))


def _of(given: Any) -> float:
    found, form = 0.0, []
    for i, (kind, values) in enumerate(islice(_leaves(given), MOST)):
        form.append(kind)
        if values is not None:
            part = float(values @ _weights[: len(values)])
            if not abs(part) < HUGE:
                values = np.nan_to_num(values, nan=NOT_A_NUMBER, posinf=ENDLESS, neginf=-ENDLESS).clip(-HUGE, HUGE)
                part = float(values @ _weights[: len(values)])
            found += (1 + 0.1 * i) * part
    return found + _of_text(" ".join(form))


def _leaves(value: Any) -> Iterator[tuple[str, np.ndarray | None]]:
    """Every array and plain value inside, each with what it is."""
    if hasattr(value, "dtype"):
        array = numbers(value)
        kind = f"{type(value).__name__}{array.dtype.str}{array.shape}"
        if array.dtype.kind not in "biuf":
            yield kind, None
        elif array.dtype.kind == "f" and array.dtype != np.float64:
            yield kind, array.ravel()[:MOST].astype(float) / COARSER
        else:
            yield kind, array.ravel()[:MOST]
    elif isinstance(value, Record | Table):
        yield from _leaves(value.fields if isinstance(value, Record) else value.data())
    elif isinstance(value, set | frozenset):
        yield f"{type(value).__name__}{sorted(map(repr, value))!s:.100}", None
    elif isinstance(value, list | tuple) and value and all(type(item) in (int, float, bool) for item in value):
        kinds = "".join(type(item).__name__[0] for item in value)
        yield f"{type(value).__name__}{kinds}", np.array([float_of(item) for item in value[:MOST]])
    elif isinstance(value, complex):
        yield "complex", np.array([value.real, value.imag])
    elif isinstance(value, list | tuple | dict | deque | Generated):
        yield f"{type(value).__name__}{len(value)}", None
        # Across the sandbox's boundary the keys of a dict come in an order of their own.
        for item in [value[key] for key in sorted(value, key=str)] if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield f"{type(value).__name__}{_text(value)}", None


def _text(value: Any) -> str:
    """A value as a short text; of a long one, and of numbers that are equal however they are written, a digest."""
    if isinstance(value, Decimal) and value.is_finite():
        value = value.normalize(EXACT)
    text = str(value)
    return text if len(text) <= 100 else f"{text:.100}{_of_text(text)}"


def _of_text(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=3).digest()) / 1e5


@dataclass(frozen=True)
class Fingerprints:
    """What hypotheses answer to an exercise's calls: a row each, a column a call; pairs to the first calls only.

    of: a digest of the calls and of the hypotheses' names
    right: (calls, 2) the reference's answers; singles, pairs: (hypotheses, calls, 2)
    """

    of: str
    right: np.ndarray
    singles: np.ndarray
    pairs: np.ndarray

    def fits(self, of: str, right: np.ndarray) -> bool:
        """Were the same questions put to the same hypotheses, and did the reference answer as it does here?"""
        return self.of == of and self.right.shape == right.shape and bool(alike(self.right, right).all())


def digest(calls: Sequence[bytes], names: Sequence[str]) -> str:
    """A word for what is asked, and who."""
    found = hashlib.sha256()
    for one in (*calls, *(name.encode() for name in names)):
        found.update(len(one).to_bytes(8) + one)
    return found.hexdigest()


def on_any_machine(call: Call) -> bytes:
    """A call as bytes that are the same on every machine.

    A suite may pass on what the reference has answered, and another processor's last digit is another one.
    """
    return call.with_given(_rounded).as_bytes


def _rounded(value: Any) -> Any:
    if not getattr(getattr(value, "dtype", None), "is_floating_point", isinstance(value, np.ndarray)):
        return value
    if isinstance(value, np.ndarray):
        return np.round(value, DIGITS) + 0.0 if value.dtype.kind == "f" else value
    return (value.detach() * 10**DIGITS).round() / 10**DIGITS + 0.0


def write(folder: Path, fingerprints: Mapping[str, Fingerprints], made_from: str = "") -> Path:
    """Keep the fingerprints of an assignment's exercises, and a digest of what they were made from, in its `folder`."""
    path = folder / FILE
    arrays = {
        f"{name}.{part}": np.rint(np.clip(np.nan_to_num(getattr(one, part)), -LARGEST, LARGEST) / UNIT).astype(np.int64)
        for name, one in fingerprints.items()
        for part in ("right", "singles", "pairs")
    }
    words = [_stamp(folder), *(f"{name} {one.of}" for name, one in fingerprints.items())]
    held = io.BytesIO()
    told = {WHAT_IT_IS: np.array(words), MADE_FROM: np.array(made_from)}
    np.savez_compressed(held, allow_pickle=False, **told, **arrays)
    path.write_bytes(held.getvalue())
    return path


def arrays_in(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name; none if it is not there, or cannot be read."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
            return dict(kept)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return {}


def made_from(folder: Path) -> str:
    """The digest of what the file in `folder` was made from; empty if it does not say."""
    return str(arrays_in(folder / FILE).get(MADE_FROM, ""))


def read(folder: Path) -> dict[str, Fingerprints]:
    """The fingerprints of an assignment's exercises; none if there is no file, or the catalogue has changed since."""
    kept = arrays_in(folder / FILE)
    stamp, *words = map(str, kept.get(WHAT_IT_IS, [""]))
    if stamp != _stamp(folder):
        return {}
    return {
        name: Fingerprints(of, *(kept[f"{name}.{part}"] * UNIT for part in ("right", "singles", "pairs")))
        for name, of in map(str.split, words)
    }


def _stamp(folder: Path) -> str:
    """A digest of the catalogues and what they may import: the code that answers."""
    files = [*folder.rglob("*mistakes.py"), *(folder.parent / "hidden").rglob("*.py")]
    return digest([path.read_bytes() for path in sorted(files)], ())
