"""What known mistakes answer to the visible tests, in a file that students have: only who gives an answer can read it.

`visible_fingerprints.npz`, beside an assignment's visible tests, has a row for each set of answers: where to look it
up, and the mistake's name and hint, encrypted. Both the place and the key come from one digest of all answers that the
visible tests of an exercise get. If a student's answers are a mistake's in every call, they are the key to its name.
Without them the file reveals nothing. `autograder dev catalogue` writes it.

A name is given only if all answers agree, at least one wrong answer is a value and not an exception, and no more than
two names fit. If more fit, the file has what they share: the hint, if it is one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from autograder.explain.fingerprints import arrays_in, as_compared, fingerprint_of, stamp
from autograder.report import Finding
from autograder.testing.tolerances import FINGERPRINT, OF_LARGE
from cellcage.protocol.calls import Answer

FILE = "visible_fingerprints.npz"
CELL = 2 * FINGERPRINT  # fingerprints in one cell of this width are of one answer
ROUNDINGS = (0.0, FINGERPRINT / 2, -FINGERPRINT / 2)  # if a student's answer is next to the edge of a cell
PLACE, KEY = 8, 16  # bytes
VisibleNames = Mapping[bytes, bytes]  # an assignment's mistakes, encrypted, by place: the digest's first bytes
EVIDENCE = "This mistake gives exactly your answers in all visible tests."
STAMPED = ("*mistakes.py", "*visible_tests.py")  # files by which it is checked that the saved answers are up to date


def named(names: VisibleNames, exercise: str, answers: Sequence[Answer]) -> Finding | None:
    """The mistake that gives exactly these answers to an exercise's visible tests; None if there is none."""
    for place, key in _digests(exercise, answers):
        if place in names:
            name, hint = json.loads(_encrypted(names[place], key))
            return Finding("known mistake", name, EVIDENCE, hint) if name else Finding("relation", hint=hint)
    return None


def row_of(exercise: str, answers: Sequence[Answer], cause: Finding) -> tuple[bytes, bytes]:
    """The row of a cause: its place, and the cause, encrypted."""
    place, key = next(_digests(exercise, answers))
    return place, _encrypted(json.dumps([cause.name, cause.hint], ensure_ascii=False).encode(), key)


def place_of(exercise: str, answers: Sequence[Answer]) -> bytes:
    """The place of some answers; the same for answers that are equal up to rounding."""
    return next(_digests(exercise, answers))[0]


def shared(causes: Sequence[Finding]) -> Finding | None:
    """What is known if each of these may be the cause: one name, or two; of more the common hint, if there is one."""
    by_name = dict[str, Finding]()
    for cause in causes:
        by_name.setdefault(cause.name, cause)
    hints = list(dict.fromkeys(cause.hint for cause in by_name.values()))
    if len(by_name) <= 2:
        return Finding("known mistake", "-or-".join(by_name), hint=" Or: ".join(hints))
    return Finding("relation", hint=hints[0]) if len(hints) == 1 else None


def write(folder: Path, rows: VisibleNames) -> Path:
    """Write the rows of an assignment's exercises into its `folder`; the file."""
    places = sorted(rows)
    texts = [rows[place] for place in places]
    np.savez_compressed(
        folder / FILE,
        allow_pickle=False,
        stamp=np.array(stamp(folder, *STAMPED)),
        places=np.frombuffer(b"".join(places), np.uint8),
        ends=np.cumsum([len(text) for text in texts], dtype=np.uint32),
        texts=np.frombuffer(b"".join(texts), np.uint8),
    )
    return folder / FILE


def read(folder: Path) -> VisibleNames:
    """The names beside an assignment's visible tests; none if the file is missing or cannot be read."""
    arrays = arrays_in(folder / FILE)
    if not arrays.keys() >= {"places", "texts", "ends"}:
        return {}
    places, texts, ends = arrays["places"].tobytes(), arrays["texts"].tobytes(), [0, *arrays["ends"].tolist()]
    one_each = [places[i : i + PLACE] for i in range(0, len(places), PLACE)]
    return dict(zip(one_each, map(texts.__getitem__, map(slice, ends, ends[1:])), strict=True))


def is_fresh(folder: Path) -> bool:
    """True if catalogues and visible tests have not changed since the file was written."""
    return str(arrays_in(folder / FILE).get("stamp", "")) == stamp(folder, *STAMPED)


def _digests(exercise: str, answers: Sequence[Answer]) -> Iterator[tuple[bytes, bytes]]:
    """Place and key of some answers, for each rounding."""
    found = np.array([fingerprint_of(as_compared(answer)) for answer in answers]).ravel()
    # Small numbers are compared by their difference, large ones by their ratio.
    even = np.sign(found) * np.log1p(np.abs(found) * OF_LARGE) / OF_LARGE
    for shift in ROUNDINGS:
        cells = np.rint((even + shift) / CELL).astype(np.int64)
        whole = hashlib.blake2b(f"{exercise} {cells.tolist()}".encode(), digest_size=PLACE + KEY).digest()
        yield whole[:PLACE], whole[PLACE:]


def _encrypted(text: bytes, key: bytes) -> bytes:
    """The text encrypted by a key; a second time decrypts it."""
    stream = hashlib.shake_256(key).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
