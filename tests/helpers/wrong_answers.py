"""Wrong implementations that nobody wrote for the catalogue, and what a teacher would call each.

`tests/course/wrong_answers/` has a file an assignment. An entry is a cell as a student would write it, in the notebook
whose other cells are the model answers:

    # %% root of the length
    # accepted: scale-by-length, a-constant-factor
    # form: yes
    # author: 2
    def attention_scores(Q, K): ...

After its own name come the causes that a teacher would accept as right words for it; `one+other` where both have to be
told. `form: yes` marks slips of form (dtype, kind, layout, inputs changed), the others are about understanding. An
entry without `author` is of the first. None of the authors had seen the catalogue, but for the eighth, who had. The
exercise is what the cell defines last.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from autograder.testing.catalogue import read_catalogue

# Names that say the same: those on the left were thought of for the independent wrong answers, before there were
# others.
SAME = [
    "residual-of-the-normed residual-from-the-norm residual-from-the-normalised",
    "embedding-divided divided-by-the-root",
    "embedding-scaled-by-d_model scaled-by-d_model",
    "blocks-side-by-side blocks-not-chained each-block-gets-the-embedding",
    "first-block-for-all one-block-for-all always-the-first-block",
    "last-block-missing one-block-too-few",
    "rows-for-columns rows-instead-of-columns",
    "mask-upside-down mask-transposed square-mask-transposed causal-mask-transposed causal-mask-upside-down",
    "mask-ignored mask-forgotten mask-without-effect causal-mask-missing",
    "in-place input-changed inputs-changed the-original-changed",
    "one-batch-axis-only batch-axis-required one-batch-layout no-batch-axes matrices-only",
    "output-only parts-missing weights-missing",
    "transposed axes-swapped axes-in-another-order",
    "axis-lost axis-missing axis-added axis-too-many axis-too-few another-shape missing-axis another-length",
    "detached-gradient gradient-missing gradient-partial",
    "reversed another-order heads-reversed rows-reversed",
    "float64-always float32-always another-dtype",
    "no-error error-missing",
    "another-error-than-asked another-error",
    "input-doubled residual-doubled branch-lost attention-lost",
    "log-taken log-softmax",
    "random another-answer-each-time",
    "argmax-for-softmax hard-maximum",
    "minimum-for-maximum sign-flipped",
    "last-head-missing one-head-too-few",
    "integers numbers-for-truth-values integers-for-truth-values mask-of-numbers",
    "residual-halved branch-scaled sum-halved",
    "exponent-by-column exponent-without-pairs a-wave-length-for-each-column",
    "exponent-off-by-one cosine-pair-off-by-one",
    "argument-unused W_K-unused W_V-unused value-unused key-unused query-unused",
    "small-fill leaky-mask leak-of-1e-9",
    "scores-blended output-first-by-scores",
    "heads-and-width-exchanged num-heads-read-as-width",
    "transpose-missing split-without-transpose concat-without-transpose",
    "average-difference means-compared",
    "one-tap-too-few last-tap-missing",
    "another-number-subtracted mean-subtracted first-allowed-subtracted last-allowed-subtracted smallest-subtracted",
    "stops-at-a-size stops-at-a-length some-heads-only stops-at-eight positions-overflow lengths-overflow",
    "mask-multiplied masked-with-zero",
    "truth-values another-dtype",
    "wrong-matrix W_Q-for-W_O another-matrix",
    "last-but-one-position last-word-not-read",
    "repetition-forbidden no-repetition stops-at-a-word-it-has-written",
    "heads-and-places-swapped head-and-place-swapped",
    "first-item-only first-of-the-batch-only",
    "angle-rounded angles-rounded angles-of-whole-numbers integer-division",
]
FOLDER = Path(__file__).parents[1] / "course" / "wrong_answers"
KNOWS_THE_TESTS = 8  # the author who had seen the catalogue, and the hidden tests
HEADER = re.compile(r"# (accepted|form|author): (.*)\n")


@dataclass(frozen=True)
class WrongAnswer:
    """One wrong implementation.

    accepted: sets of causes; each set is right words for it
    text: the cell, as a student hands it in
    """

    name: str
    exercise: str
    accepted: frozenset[frozenset[str]]
    form: bool
    author: int
    text: str

    def is_right(self, name: str) -> bool:
        """Are these words a teacher's?"""
        return _words(name.split("+")) in self.accepted

    def code(self, assignment: Assignment) -> Any:
        """What the cell defines, among the model answers to the other exercises."""
        names = dict(vars(assignment.reference()))
        exec(compile(self.text, f"<{self.name}>", "exec"), names)
        return names[self.exercise]


def wrong_answers_of(assignment: Assignment) -> list[WrongAnswer]:
    """What is in the assignment's file."""
    text = (FOLDER / f"{assignment.name}.py").read_text(encoding="utf-8")
    return [_read(cell) for cell in re.split("^# %% ", text, flags=re.MULTILINE)[1:]]


def telling(assignment: Assignment) -> Iterator[WrongAnswer]:
    """Those that tell what nothing else does: the first of an exercise with these accepted causes, if none of them is a
    known mistake of the exercise, which is judged and named by itself. If an exercise has none, its first entry.
    """
    catalogue, answers = read_catalogue(assignment.mistakes), wrong_answers_of(assignment)
    for exercise in assignment.exercises:
        known = {_words([mistake.name]) for mistake in catalogue.of(exercise.name)}
        mine = [one for one in answers if one.exercise == exercise.name]
        first = {one.accepted: one for one in reversed(mine) if known.isdisjoint(one.accepted)}
        yield from first.values() or mine[:1]


def _read(cell: str) -> WrongAnswer:
    name, _, rest = cell.partition("\n")
    header = {}
    while line := HEADER.match(rest):
        header[line[1]], rest = line[2], rest[line.end() :]
    accepted = frozenset(_words(one.split("+")) for one in header["accepted"].split(", "))
    exercise = ast.parse(rest).body[-1].name
    return WrongAnswer(name, exercise, accepted, "form" in header, int(header.get("author", 1)), rest)


def _words(names: list[str]) -> frozenset[str]:
    return frozenset(_word(name) for name in names)


@functools.cache
def _word(name: str) -> str:
    """The first of the names that say the same."""
    return next((line.split()[0] for line in SAME if name in line.split()), name)
