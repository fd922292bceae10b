"""What known mistakes answer to the visible tests, as students have it: a name can be read by who gives its answers.

`visible_fingerprints.npz` stands beside the visible tests of an assignment and has a row for each set of answers: where
to look it up, and the mistake's name with its question, enciphered. Both come of one digest over all answers that an
exercise's visible tests got. So a student's answers, if they are a mistake's in every call, are the key to its name;
without them the file tells nothing. `autograder dev catalogue` writes it.

The rule is strict: all answers agree, at least one that is wrong is a value and no exception, and one name fits, or
two. If more fit, what they share is kept: the question, if it is one.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.diagnosis.fingerprints import OF_LARGE, TOLERANCE, arrays_in, digest, fingerprint_of
from autograder.diagnosis.naming import Diagnosis
from autograder.report import Cause
from autograder.sandbox.protocol.calls import Answer

FILE = "visible_fingerprints.npz"
CELL = 2 * TOLERANCE  # fingerprints in one cell of this width are of one answer
ROUNDINGS = (0.0, TOLERANCE / 2, -TOLERANCE / 2)  # where a student's answer lies next to the edge of a cell
PLACE, KEY = 8, 16  # bytes
EVIDENCE = "This mistake gives exactly your answers in all visible tests."


@dataclass(frozen=True)
class VisibleNames:
    """The names of an assignment's mistakes, by place: 8 bytes of a digest, the rest of which is the key to them."""

    rows: Mapping[bytes, bytes]

    def named(self, exercise: str, answers: Sequence[Answer]) -> Diagnosis | None:
        """The mistake that gives just these answers to the exercise's visible tests, if it is known."""
        for place, key in _digests(exercise, answers):
            if place in self.rows:
                name, hint = json.loads(_enciphered(self.rows[place], key))
                return Diagnosis((Cause(name, hint),), EVIDENCE if name else "", is_relation=not name)
        return None


def row_of(exercise: str, answers: Sequence[Answer], told: Cause) -> tuple[bytes, bytes]:
    """What is kept of a cause: where it is looked up, and the cause, enciphered."""
    place, key = next(_digests(exercise, answers))
    return place, _enciphered(json.dumps([told.name, told.hint], ensure_ascii=False).encode(), key)


def place_of(exercise: str, answers: Sequence[Answer]) -> bytes:
    """The same for answers that are equal to rounding."""
    return next(_digests(exercise, answers))[0]


def shared(causes: Sequence[Cause]) -> Cause | None:
    """What one can say if each of these may be the cause: the name, the two, or of more the question they share."""
    by_name = {cause.name: cause for cause in causes}
    hints = list(dict.fromkeys(cause.hint for cause in by_name.values()))
    if len(by_name) <= 2:
        return Cause("-or-".join(by_name), " Or: ".join(hints))
    return Cause("", hints[0]) if len(hints) == 1 else None


def write(folder: Path, rows: Mapping[bytes, bytes]) -> Path:
    """Keep the rows of an assignment's exercises in its `folder`; the file."""
    ordered = sorted(rows)
    texts = [rows[place] for place in ordered]
    held = io.BytesIO()
    np.savez_compressed(
        held,
        allow_pickle=False,
        stamp=np.array(_stamp(folder)),
        places=np.frombuffer(b"".join(ordered), np.uint8),
        ends=np.cumsum([len(text) for text in texts], dtype=np.uint32),
        texts=np.frombuffer(b"".join(texts), np.uint8),
    )
    path = folder / FILE
    path.write_bytes(held.getvalue())
    return path


def read(folder: Path) -> VisibleNames:
    """The names beside an assignment's visible tests; none if there is no file, or it cannot be read."""
    kept = arrays_in(folder / FILE)
    if not kept.keys() >= {"places", "texts", "ends"}:
        return VisibleNames({})
    places, texts, ends = kept["places"].tobytes(), kept["texts"].tobytes(), [0, *kept["ends"].tolist()]
    one_each = [places[i : i + PLACE] for i in range(0, len(places), PLACE)]
    return VisibleNames(dict(zip(one_each, map(texts.__getitem__, map(slice, ends, ends[1:])), strict=True)))


def is_fresh(folder: Path) -> bool:
    """Is the file of the catalogues and visible tests that stand beside it?"""
    return str(arrays_in(folder / FILE).get("stamp", "")) == _stamp(folder)


def _stamp(folder: Path) -> str:
    """A digest of who answers and what is asked."""
    files = [
        *folder.rglob("*mistakes.py"),
        *folder.rglob("*visible_tests.py"),
        *(folder.parent / "hidden").rglob("*.py"),
    ]
    return digest([path.read_bytes() for path in sorted(files)], ())


def _digests(exercise: str, answers: Sequence[Answer]) -> Iterator[tuple[bytes, bytes]]:
    """Place and key, for each rounding."""
    found = np.array([fingerprint_of(answer) for answer in answers]).ravel()
    # What is alike in small numbers is alike in large ones by their share.
    even = np.sign(found) * np.log1p(np.abs(found) * OF_LARGE) / OF_LARGE
    for by in ROUNDINGS:
        cells = np.rint((even + by) / CELL).astype(np.int64)
        whole = hashlib.blake2b(f"{exercise} {cells.tolist()}".encode(), digest_size=PLACE + KEY).digest()
        yield whole[:PLACE], whole[PLACE:]


def _enciphered(text: bytes, key: bytes) -> bytes:
    """The text under the key; done twice, it is the text again."""
    stream = hashlib.shake_256(key).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
