"""Questions that a notebook's cells ask while they run: self-checks against built-in functions.

Students may not call these functions (see `sandbox.sandboxed.removal`), but a self-check in a cell may compare with
them. Only a few public functions of the libraries are answered for: they check shapes themselves, which the kernels
below them do not.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from autograder.testing import callback_cost
from autograder.testing.callbacks import forbidden_name, refused
from cellcage.calling.perform import perform
from cellcage.inside.removal import NOT_HERE
from cellcage.protocol import frames
from cellcage.protocol.calls import Call, Failure, Reply, answer_bytes, call_of

MAX_QUESTIONS = 1000  # of a notebook's cells
MAX_SAVED = 64 * 2**20  # bytes of answers, for cells that run once more; ordinary ones have some kB
MAX_ITEMS = 2**20  # of the arguments of what no test may call: their shapes multiply to no more
MAX_SIZES = 3  # numbers in a list that gives a size for each axis, such as a stride
TOO_LATE = "is answered once more for the same inputs only; this is about a self-check, not a mark"


@dataclass(frozen=True)
class Answered:
    """A function that is answered for: its module, and the most items that one of its arguments may have."""

    module: str
    items: int


def answered_in(what: Mapping[str, Any]) -> dict[str, Answered]:
    """The functions that a self-check may compare with, by name.

    what: `forbidden` of `autograder.content.sandbox_setting`
    """
    always = {name: Answered(module, MAX_ITEMS) for name, module in what["answered"].items()}
    others = [watched["answered"] for watched in what["where_watched"].values()]
    return always | {name: Answered(module, callback_cost.MAX_ITEMS) for one in others for name, module in one.items()}


class SelfChecks:
    """Answers to the cells of one submission.

    answered: built-in functions with which a self-check may compare, see `answered_in`
    was_asked: an exercise's process has been given a call
    """

    def __init__(self, answered: Mapping[str, Answered]) -> None:
        self._answered = answered
        self.was_asked = False
        self._questions = 0
        self._saved = dict[bytes, bytes]()
        self._saved_bytes = 0

    def answer(self, question: bytes) -> bytes:
        """The answer to a cell's question; only a few functions are answered.

        After an exercise's first call only repeated questions are answered. A cell that runs again might have learned
        the hidden inputs, and could ask for the answers. A self-check asks the same as before.
        """
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            raise frames.WireError("too many questions")
        digest = hashlib.sha256(question).digest()
        if digest in self._saved:
            return self._saved[digest]
        if self.was_asked:
            return answer_bytes(refused(f"the ready-made {forbidden_name(call_of(question))} {TOO_LATE}"))
        answer = answer_bytes(answer_in_cell(call_of(question), self._answered))
        self._saved_bytes += len(answer)
        if self._saved_bytes <= MAX_SAVED:
            self._saved[digest] = answer
        return answer


def answer_in_cell(question: Call, answered: Mapping[str, Answered]) -> Reply | Failure:
    """The answer to a notebook's cell, which may compare with the functions in `answered`."""
    name = forbidden_name(question)
    plain_name = name.partition(".")[0]  # an operator's overloads stand behind a dot
    known = answered.get(plain_name)
    is_plain = question.instance is None and not question.has_handle()
    if known is None or not is_plain or not callback_cost.is_small(_with_sizes_apart(question), known.items):
        return refused(f"the ready-made {name} {NOT_HERE}")
    return perform({question.name: getattr(importlib.import_module(known.module), plain_name)}, question)


def _with_sizes_apart(question: Call) -> Call:
    """The question with short lists of numbers spread out: padding along two axes costs the product of both."""
    args: list[Any] = []
    for value in (*question.args, *question.kwargs.values()):
        is_sizes = isinstance(value, list | tuple) and len(value) <= MAX_SIZES
        args += value if is_sizes and all(isinstance(n, int) for n in value) else [value]
    return replace(question, args=args, kwargs={})
