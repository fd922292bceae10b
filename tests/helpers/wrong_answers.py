"""Wrong implementations that nobody wrote for the catalogue, and what a teacher would call each.

`tests/course/wrong_answers/` has a file an assignment, and `..._second.py` to `..._fifth.py` for what other people
wrote later. An entry is a function or class as a student would write it:

    @wrong("root of the length", "scale-by-length", "a-constant-factor")
    def attention_scores(Q, K): ...

First its own name, then the causes that a teacher would accept as right words for it; `one+other` where both have to be
told. `form=True` marks slips of form (dtype, kind, layout, inputs changed), the others are about understanding.

Entries are in two halves, by a hash of their name. One half may be looked at when causes are added; the other was not
looked at until its figures were taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.content import load
from autograder.course import Assignment

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
    "angle-rounded angles-rounded angles-of-whole-numbers integer-division",
]
FOLDER = Path(__file__).parents[1] / "course" / "wrong_answers"


@dataclass(frozen=True)
class WrongAnswer:
    """One wrong implementation."""

    name: str
    exercise: str
    accepted: frozenset[frozenset[str]]
    form: bool
    code: Any

    @property
    def is_open(self) -> bool:
        """Is it in the half that may be looked at?"""
        return hashlib.sha256(f"{self.exercise}/{self.name}".encode()).digest()[0] % 2 == 0

    def is_right(self, name: str) -> bool:
        """Are these words a teacher's?"""
        return any({_word(one) for one in name.split("+")} == {_word(one) for one in given} for given in self.accepted)


def _word(name: str) -> str:
    """The first of the names that say the same."""
    return next((line.split()[0] for line in SAME if name in line.split()), name)


class WrongAnswers(list[WrongAnswer]):
    """The entries of one file. Used as a decorator."""

    def __call__(self, name: str, *accepted: str, form: bool = False) -> Callable[[Any], Any]:
        """Enter the decorated function or class."""

        def enter(code: Any) -> Any:
            causes = frozenset(frozenset(one.split("+")) for one in accepted)
            self.append(WrongAnswer(name, code.__name__, causes, form, code))
            return code

        return enter

    def edited(
        self, source: str, name: str, accepted: str, *changes: tuple[str, str], form: bool = False, **more: Any
    ) -> None:
        """Enter what `source` defines last, with some of its text replaced. `accepted`: causes, by blanks."""
        for old, new in changes:
            assert old in source, old
            source = source.replace(old, new)
        names = dict(more)
        exec(source, names)
        self(name, *accepted.split(), form=form)(list(names.values())[-1])


def wrong_answers_of(assignment: Assignment) -> WrongAnswers:
    """What is in the assignment's files."""
    found = WrongAnswers()
    for path in sorted(FOLDER.glob(f"{assignment.name}*.py")):
        found += load(path).wrong
    return found
