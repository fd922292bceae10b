"""What every hypothesis answers, as prints, computed once and kept beside the exercises in `prints.npz`.

To ask them all takes a minute of processor time; to read the file, a millisecond. `autograder dev catalogue` writes it.
If the catalogue has changed since, or the suite asks something else, the hypotheses are asked a few calls each, and the
rest when they are in question, as if there were no file.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autograder.diagnosis.prints import alike
from autograder.sandbox.protocol.calls import Call

FILE = "prints.npz"
DIGITS = 5  # behind the point, of an input; honest ones differ by 1e-15 from machine to machine
UNIT = 1e-5  # prints are kept as whole multiples of it, a tenth of what tells two of them apart
LARGEST = 1e13  # so that they fit into eight bytes
WHAT_IT_IS = "what it is of"  # the entry that holds the digests


@dataclass(frozen=True)
class Prints:
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


def write(folder: Path, prints: Mapping[str, Prints]) -> Path:
    """Keep the prints of an assignment's exercises in its `folder`; the file."""
    path = folder / FILE
    arrays = {
        f"{name}.{part}": np.rint(np.clip(np.nan_to_num(getattr(one, part)), -LARGEST, LARGEST) / UNIT).astype(np.int64)
        for name, one in prints.items()
        for part in ("right", "singles", "pairs")
    }
    words = [_stamp(folder), *(f"{name} {one.of}" for name, one in prints.items())]
    held = io.BytesIO()
    np.savez_compressed(held, allow_pickle=False, **{WHAT_IT_IS: np.array(words)}, **arrays)
    path.write_bytes(held.getvalue())
    return path


def read(folder: Path) -> dict[str, Prints]:
    """The prints of an assignment's exercises; none if there is no file, or the catalogue has changed since."""
    try:
        with open(folder / FILE, "rb") as file, np.load(file, allow_pickle=False) as kept:
            stamp, *words = (str(word) for word in kept[WHAT_IT_IS])
            if stamp != _stamp(folder):
                return {}
            return {
                name: Prints(of, *(kept[f"{name}.{part}"] * UNIT for part in ("right", "singles", "pairs")))
                for name, of in (word.split() for word in words)
            }
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}


def _stamp(folder: Path) -> str:
    """A digest of the catalogues and what they may import: the code that answers."""
    files = [*folder.rglob("*mistakes.py"), *(folder.parent / "hidden").rglob("*.py")]
    return digest([path.read_bytes() for path in sorted(files)], ())
