"""Questions that a notebook's cells ask while they run: self-checks against built-in functions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from autograder.sandbox.protocol import frames
from autograder.sandbox.protocol.calls import answer_bytes, call_of
from autograder.testing import forbidden

MAX_QUESTIONS = 1000  # of a notebook's cells
MAX_SAVED = 64 * 2**20  # bytes of answers, for cells that run once more; ordinary ones have some kB


class SelfChecks:
    """Answers to the cells of one submission.

    answered: built-in functions with which a self-check may compare, see `forbidden.answered_in`
    was_asked: an exercise's process has been given a call
    """

    def __init__(self, answered: Mapping[str, forbidden.Answered]) -> None:
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
            return answer_bytes(forbidden.too_late(call_of(question)))
        answer = answer_bytes(forbidden.answer_in_cell(call_of(question), self._answered))
        self._saved_bytes += len(answer)
        if self._saved_bytes <= MAX_SAVED:
            self._saved[digest] = answer
        return answer
