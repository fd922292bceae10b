"""Hidden tests of output_projection."""

import math

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import keeps_digits, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL


@pytest.mark.exercise("output_projection")
class TestOutputProjection:
    HEADS, W_O = normal(101, 3, 5, 4), normal(102, 12, 12)  # three heads, five words, values of width four

    def function(self, student):
        """The student's function. If it takes batches only, it gets a batch of one; `test_shape` judges that."""
        return Unbatched(student.output_projection, 3)

    def looks_like_projection(self, student):
        """Fails unless each word has one vector, and other heads give other vectors."""
        expect.shape(expect.array(self.function(student)(self.HEADS, self.W_O)), (5, 12))
        responds(self.function(student), [self.HEADS, self.W_O], [normal(103, 3, 5, 4)])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads of shape (5, 4) and W_O of shape (12, 7) give (5, 7): one vector per word."""
        got = expect.array(student.output_projection(self.HEADS, normal(104, 12, 7)))
        expect.shape(got, (5, 7), "One row per word, as wide as the model.")

    @pytest.mark.weight(1.6)
    def test_values(self, student, reference):
        """The heads, concatenated word by word, times W_O."""
        hint = "Take one word: which numbers stand side by side, in which order, and what is done with them?"
        for seed in (105, 107):
            heads, W_O = normal(seed, 3, 5, 4), normal(seed + 1, 12, 12)
            wanted = reference.output_projection(heads, W_O)
            expect.close(expect.array(self.function(student)(heads, W_O)), wanted, hint, atol=ATOL)

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Eight heads of width 12 and seventy words; sixteen heads of width 3; two of each; 521 words."""
        hint = expect.IfOthersPass(
            "With three heads and five words another test judges this. Is there a size in your code as a number?"
        )
        for seed, sizes, d_model in (
            (114, (8, 70, 12), 96),
            (116, (16, 64, 3), 16),
            (118, (2, 2, 2), 2),
            (120, (3, 521, 1), 2),
        ):
            heads, W_O = normal(seed, *sizes), normal(seed + 1, sizes[0] * sizes[2], d_model) / math.sqrt(d_model)
            wanted = reference.output_projection(heads, W_O)
            what = f"the result for {sizes[0]} heads of {sizes[1]} words"
            expect.close(expect.array(self.function(student)(heads, W_O)), wanted, hint, what, ATOL)

    @pytest.mark.weight(0.32)
    def test_widths(self, student):
        """d_model need not be h * d_v: a narrow or a wide W_O gives just these columns."""
        self.looks_like_projection(student)
        wide = normal(109, 12, 20)
        hint = "Where does the width of the result come from?"
        square = expect.array(self.function(student)(self.HEADS, wide[:, :12]))
        expect.shape(square, (5, 12), hint)
        expect.close(self.function(student)(self.HEADS, wide[:, :7]), square[:, :7], hint, atol=ATOL)
        got = expect.array(self.function(student)(self.HEADS, wide))
        expect.shape(got, (5, 20), hint)
        expect.close(got[:, :12], square, hint, atol=ATOL)

    @pytest.mark.weight(0.8)
    def test_batch_axes(self, student):
        """Batch axes in front: each item is projected on its own."""
        self.looks_like_projection(student)
        hint = "Count the axes from the end: which one holds the heads when there are batch axes in front?"
        call = lambda heads: self.function(student)(heads, self.W_O)  # noqa: E731
        same_item_by_item(call, [normal(110, 2, 3, 5, 4)], 1, hint)
        same_item_by_item(call, [normal(111, 2, 6, 3, 5, 4)], 2, hint)

    @pytest.mark.weight(0.2)
    def test_one_head_one_word(self, student):
        """One head, or one word: the same numbers as among others, and no axis is lost."""
        self.looks_like_projection(student)
        whole = expect.array(self.function(student)(self.HEADS, self.W_O))
        expect.shape(whole, (5, 12))
        hint = "Is an axis of length one dropped, or a size taken from the wrong axis?"
        for words in (1, 2, 3):  # fewer than heads, and as many
            got = self.function(student)(self.HEADS[:, :words], self.W_O)
            expect.close(got, whole[:words], hint, atol=ATOL)
        # Three heads of width one, two of which are zero, are one head.
        three, rows = np.concatenate([self.HEADS[:1, :, :1], np.zeros((2, 5, 1))]), self.W_O[:3]
        wanted = expect.array(self.function(student)(three, rows))
        expect.close(self.function(student)(three[:1], rows[:1]), wanted, hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_projection(student)
        for dtype in (np.float32, np.float64):
            got = self.function(student)(self.HEADS.astype(dtype), self.W_O.astype(dtype))
            expect.dtype(expect.array(got), dtype, "Is an array made on the way, and of which dtype?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.28)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_projection(student)
        heads, W_O = normal(112, 4, 5, 3).T, normal(113, 12, 24)[:, ::2]
        plain = self.function(student)(np.ascontiguousarray(heads), np.ascontiguousarray(W_O))
        hint = "Is memory read in the order of the axes?"
        expect.close(self.function(student)(heads=heads, W_O=W_O), plain, hint, atol=ATOL)
        after = self.function(student).inputs_after(heads, W_O)
        expect.unchanged(after, [heads, W_O], ["heads", "W_O"], "Look for operators like *= on an argument.")
