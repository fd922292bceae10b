"""Hidden tests of mean_ablate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds
from ..shared_hidden_tests import ATOL, LAYOUT, ON_AN_ARGUMENT


@pytest.mark.exercise("mean_ablate")
class TestMeanAblate:
    FOUND = normal(931, 4, 3, 6, 5)  # (B, h, L, d_v)

    def ablated(self, student: Any, found: np.ndarray, head: int) -> np.ndarray:
        """The answer. Fails unless it has the argument's shape."""
        got = self.loosely(student, found, head)
        expect.shape(got, found.shape, "Everybody else still says what they said.")
        return got

    def loosely(self, student: Any, found: np.ndarray, head: int) -> np.ndarray:
        """The same in any shape, for tests in which a wrong shape must not cost points again."""
        return expect.array(student.mean_ablate(found, head))

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless the answer depends on what the heads found."""
        responds(lambda found: self.loosely(student, found, 1), [self.FOUND], [normal(932, 4, 3, 6, 5)], ["found"])

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Four texts, three heads, six words, width five: the same shape comes back."""
        self.ablated(student, self.FOUND, 1)

    @pytest.mark.weight(1.25)
    def test_values(self, student, reference):
        """That head has, at each place, the mean of what it found there in all the texts."""
        hint = "What should this head say at place 2: which numbers is that the mean of, and how many?"
        for seed, shape, head in ((933, (4, 3, 6, 5), 1), (934, (3, 5, 4, 2), 4), (935, (5, 2, 3, 4), 0)):
            found = normal(seed, *shape)
            got, wanted = self.ablated(student, found, head), reference.mean_ablate(found, head)
            expect.close(got[:, head], wanted[:, head], hint, f"what head {head} says", ATOL)

    @pytest.mark.weight(1.25)
    def test_other_heads(self, student):
        """All other heads say what they said."""
        self.looks_like_an_attempt(student)
        for head in (0, 2):
            got = np.delete(self.ablated(student, self.FOUND, head), head, axis=1)
            kept = np.delete(self.FOUND, head, axis=1)
            hint = "Which axis are the heads, and whose numbers have you replaced?"
            expect.close(got, kept, hint, f"what is left when head {head} is taken away", ATOL)

    @pytest.mark.weight(0.3)
    def test_tells_nothing(self, student):
        """What the head says is the same in every text, so it tells nobody which text this is."""
        self.looks_like_an_attempt(student)
        got = self.loosely(student, self.FOUND, 1)
        output = got if got.ndim == 3 else self.ablated(student, self.FOUND, 1)[:, 1]  # maybe of that head alone
        hint = "Over which axis is the mean, and does every text get it?"
        expect.close(output, np.broadcast_to(output[:1], output.shape), hint, "what head 1 says", ATOL)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Two texts of 71 words in eight heads, the last head; 5,101 texts, 5,101 words, and one of everything."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_values, lambda student, _: self.test_other_heads(student))
        cases = (
            ((2, 8, 71, 12), 7),
            ((5101, 2, 1, 1), 0),
            ((1, 1, 64, 33), 0),
            ((2, 1, 5101, 1), 0),
            ((16, 9, 1, 16), 8),
            ((1, 2, 1, 2), 1),
        )
        for number, (shape, head) in enumerate(cases):
            found = normal(1700 + number, *shape)
            wanted, got = reference.mean_ablate(found, head), self.loosely(student, found, head)
            if plain:
                expect.close(got, wanted, ANY_SIZE, atol=ATOL)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            hint = "Is an array made on the way, and of which dtype?"
            expect.dtype(self.loosely(student, self.FOUND.astype(dtype), 1), dtype, hint)

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """What came in is not changed; arguments may come by keyword and with any layout in memory."""
        self.looks_like_an_attempt(student)
        view = np.asfortranarray(self.FOUND)
        after = student.mean_ablate.inputs_after(view, 1)
        expect.unchanged(after, [view, 1], ["found", "head"], ON_AN_ARGUMENT)
        by_name = student.mean_ablate(head=1, found=view)
        expect.close(by_name, self.loosely(student, self.FOUND, 1), LAYOUT, atol=ATOL)
