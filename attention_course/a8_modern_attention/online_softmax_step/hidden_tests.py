"""Hidden tests of online_softmax_step."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, responds, same_in_batches
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, LARGE, loosely


@pytest.mark.exercise("online_softmax_step")
class TestOnlineSoftmaxStep:
    NAMES = ("largest", "total", "mixed", "Q", "K", "V")
    PARTS = NAMES[:3]
    AGAIN = "What was measured from the old largest score: how much is it, measured from the new one?"

    @staticmethod
    def given(seed, *batch, above=0.0, keys=4, L=5, d_k=7, d_v=3):
        """The state so far and a block of keys, for L queries. Earlier scores were larger by `above`."""
        largest, total = normal(seed, *batch, L) + above, 1 + np.abs(normal(seed + 1, *batch, L))
        mixed = 2 * normal(seed + 2, *batch, L, d_v)
        block = normal(seed + 4, *batch, keys, d_k), normal(seed + 5, *batch, keys, d_v)
        return largest, total, mixed, normal(seed + 3, *batch, L, d_k), *block

    @staticmethod
    def beginning(seed, keys=4):
        """The state before the first block."""
        _, _, _, *block = TestOnlineSoftmaxStep.given(seed, keys=keys)
        return np.full(5, -np.inf), np.zeros(5), np.zeros((5, 3)), *block

    SMALL = given(1020)

    def step(self, student, *args, **more):
        """The three as arrays."""
        ask = Unbatched(student.online_softmax_step, 1, 1, 2)  # `test_shape` judges code for batches only
        got = ask(*args, **more)
        if not isinstance(got, tuple | list) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (largest, total, mixed).")
        return tuple(loosely(part) for part in got)

    def looks_like_an_attempt(self, student):
        """Fails unless another block gives another answer."""
        call = lambda *args: self.step(student, *args)  # noqa: E731
        others = [None, None, None, normal(1030, 5, 7), normal(1031, 4, 7), normal(1032, 4, 3)]
        responds(call, self.SMALL, others, self.NAMES)

    def compare(self, student, reference, hint, part, *cases):
        for args in cases:
            got, wanted = self.step(student, *args), reference.online_softmax_step(*args)
            expect.close(got[part], wanted[part], hint, self.PARTS[part], ATOL)

    def mixture(self, got):
        """The output if there were no more blocks."""
        _, total, mixed = got
        expect.shape(total, mixed.shape[:-1], what="total")
        with np.errstate(all="ignore"):
            return mixed / total[..., np.newaxis]

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """Five queries, four keys, values of width three: (5,), (5,) and (5, 3), as a tuple."""
        got = student.online_softmax_step(*self.SMALL)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (largest, total, mixed).")
        for part, shape, what in zip(got, ((5,), (5,), (5, 3)), self.PARTS, strict=True):
            expect.shape(expect.array(part, what=what), shape, "One number per query, one row per query.", what)

    @pytest.mark.weight(0.25)
    def test_largest(self, student, reference):
        """The largest score so far, of this block and of those before."""
        hint = "Each query has a largest score of its own. What are scores divided by, and what was there before?"
        self.compare(student, reference, hint, 0, self.given(1040), self.given(1050, above=1.0, keys=6))

    @pytest.mark.weight(0.35)
    def test_total(self, student, reference):
        """The total so far, measured from the new largest score, plus that of the block."""
        self.compare(student, reference, self.AGAIN, 1, self.given(1060), self.given(1070, above=1.0, keys=6))

    @pytest.mark.weight(0.35)
    def test_mixed(self, student, reference):
        """The values mixed so far, measured from the new largest score, plus those of the block."""
        *before, K, V = self.given(1095, above=1.0)
        as_wide = (*(part[:3] for part in before), K, V)  # as many queries as the width of the values
        cases = self.given(1080), self.given(1090, above=1.0, keys=6), as_wide
        self.compare(student, reference, self.AGAIN, 2, *cases)

    @pytest.mark.weight(0.17)
    def test_first_block(self, student, reference):
        """Before the first block nothing has been seen: -inf, 0 and 0."""
        args = self.beginning(1100)
        hint = "What is e to the power of -inf, and is anything NaN on the way?"
        for part, other, what in zip(
            self.step(student, *args), reference.online_softmax_step(*args), self.PARTS, strict=True
        ):
            expect.finite(part, hint, what)
            expect.close(part, other, hint, what, ATOL)

    @pytest.mark.weight(0.15)
    def test_in_any_blocks(self, student):
        """A block of six keys, or its halves one after the other: the same in the end."""
        self.looks_like_an_attempt(student)
        *before, Q, K, V = self.given(1110, keys=6)
        whole = self.step(student, *before, Q, K, V)
        half = self.step(student, *before, Q, K[:3], V[:3])
        got = self.step(student, *half, Q, K[3:], V[3:])
        hint = "When a larger score turns up later, what becomes of what was summed up before?"
        expect.close(self.mixture(got), self.mixture(whole), hint, "what is mixed, by the total,", ATOL)

    @pytest.mark.weight(0.13)
    def test_quiet_block(self, student):
        """A block whose scores are all far below adds nothing, and what was there stays."""
        self.looks_like_an_attempt(student)
        args = self.given(1120, above=1e4)
        got = self.step(student, *args)
        hint = "If the largest score stays the same, by what does the old part shrink?"
        expect.close(self.mixture(got), self.mixture(args[:3]), hint, "what is mixed, by the total,", ATOL)

    @pytest.mark.weight(0.1)
    def test_large_scores(self, student):
        """Scores of 10,000 and -10,000 give finite numbers, in the first block and later."""
        self.looks_like_an_attempt(student)
        hint = "What is subtracted from a score before e is raised to it?"
        for before in (self.beginning(1130)[:3], self.SMALL[:3]):
            _, _, _, Q, K, V = self.given(1130)
            for queries, keys in ((LARGE * Q, K), (-LARGE * np.abs(Q), np.abs(K))):  # even the largest is low
                got = self.step(student, *before, queries, keys, V)
                for part, what in zip(got, self.PARTS, strict=True):
                    expect.finite(part, hint, what)
                expect.finite(self.mixture(got), hint, "what is mixed, by the total,")

    @pytest.mark.weight(0.12)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text on its own."""
        self.looks_like_an_attempt(student)
        call = lambda *args: self.step(student, *args)  # noqa: E731
        same_in_batches(call, [self.given(1140, 3), self.given(1150, 2, 3)], FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_real_sizes(self, student, reference):
        """A block of 71 keys for 33 queries in two texts of eight heads; and of 1, 2, 16 and 64."""
        self.looks_like_an_attempt(student)
        long = self.given(1600, 2, 8, keys=71, L=33, d_k=12, d_v=12)
        for args in (
            long,
            self.given(1610, keys=64, L=16, d_k=16, d_v=9),
            self.given(1620, 1, 1, keys=1, L=1, d_k=1, d_v=1),
            self.given(1630, keys=2, L=64, d_k=2, d_v=16),
            self.given(1640, 16, 9, keys=1, L=2, d_k=9, d_v=2),
        ):
            wanted, got = reference.online_softmax_step(*args), self.step(student, *args)
            for part, other, what in zip(got, wanted, self.PARTS, strict=True):
                expect.close(part, other, ANY_SIZE, what, ATOL)

    @pytest.mark.weight(0.08)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in all three."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.step(student, *(array.astype(dtype) for array in self.SMALL))
            for part, what in zip(got, self.PARTS, strict=True):
                expect.dtype(part, dtype, DTYPE, what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [array.T.copy().T for array in self.SMALL]
        by_name = self.step(student, **dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        for part, other, what in zip(by_name, self.step(student, *self.SMALL), self.PARTS, strict=True):
            expect.close(part, other, BY_NAME, what, ATOL)
        after = student.online_softmax_step.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, IN_PLACE)
