"""An answer's fingerprint: two numbers by which an answer is looked up. And the file with those of all hypotheses.

Equal answers have equal fingerprints, up to rounding; different answers hardly ever do. The first number depends on the
value. The second depends on all that comes with it: arguments afterwards, gradients, and the shapes of parameters.

Running all hypotheses takes a minute of processor time; reading `fingerprints.npz`, a file beside the exercises, takes
a millisecond. `autograder dev catalogue` writes it. If the catalogue or the suite's calls have changed since then, the
hypotheses are run on a few calls each, and on the rest while they are candidates, as if there were no file.
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

from autograder.testing.tolerances import COARSER, FINGERPRINT, OF_LARGE
from cellcage.protocol.calls import Answer, Call, Failure, Reply
from cellcage.values.value import Generated, Other, changed, float_of, numbers
from cellcage.values.value_type import compared, inside

MAX_PARTS = 20_000  # parts of an answer that count, and numbers of a part
NOT_A_NUMBER, ENDLESS, HUGE = 1234.5, 54321.0, 1e9
FILE = "fingerprints.npz"
DIGITS = 5  # after the point, of an input; correct ones differ by 1e-15 between machines
UNIT = 1e-5  # fingerprints are saved as multiples of it, a tenth of what tells two of them apart
LARGEST = 1e13  # so that they fit into eight bytes
STAMP, MADE_FROM = "what it is of", "made from"  # entries of the file that hold digests
ARRAYS = ("right", "wrong")
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


def digest(parts: Sequence[bytes], names: Sequence[str] = ()) -> str:
    """A digest of some bytes and names, as hexadecimal digits."""
    found = hashlib.sha256()
    for part in (*parts, *(name.encode() for name in names)):
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()


def on_any_machine(call: Call) -> bytes:
    """A call as bytes that are the same on every machine.

    A suite may pass on what the reference has answered, and its last digits depend on the processor.
    """
    return call.with_given(_rounded).as_bytes


def _rounded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.round(value, DIGITS) + 0.0 if value.dtype.kind == "f" else value
    if not getattr(getattr(value, "dtype", None), "is_floating_point", False):
        return value
    return (value.detach() * 10**DIGITS).round() / 10**DIGITS + 0.0


def write(folder: Path, fingerprints: Mapping[str, Fingerprints], made_from: str = "") -> Path:
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
    return digest([path.read_bytes() for path in sorted([*files, *(folder.parent / "hidden").rglob("*.py")])])
