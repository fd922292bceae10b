"""Hidden tests of causal_attention."""

import contextlib

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, same_item_by_item
from ..shared_hidden_tests import FAR, HUGE, AttentionTests, all_low, all_zero, loosely, table, zero_where

LATER = np.triu(np.ones((5, 5), dtype=bool), 1)  # what a word may not see in a text of five


@pytest.mark.exercise("causal_attention")
class TestCausalAttention(AttentionTests):
    """L=5, d=6, d_v=3, and batches of 2."""

    NAME = "causal_attention"
    NAMES = ("Q", "K", "V", "padding")
    SMALL = Q, K, V = normal(31, 5, 6), normal(32, 5, 6), normal(33, 5, 3)
    OTHERS = (normal(34, 5, 6), normal(35, 5, 6), normal(36, 5, 3))
    BATCH = (normal(37, 2, 5, 6), normal(38, 2, 5, 6), normal(39, 2, 5, 3))
    LENGTHS = (4, 2)  # the first is not the shortest, so the mask that all texts share is not the first text's
    PADDING = table("11110", "11000")[:, None, :]  # (2, 1, 5)

    def with_hidden(self, lengths):
        """The batch, with huge keys and values at padded places."""
        Q, K, V = (array.copy() for array in self.BATCH)
        for item, length in enumerate(lengths):
            K[item, length:] = FAR * normal(40 + item, 5 - length, 6)
            V[item, length:] = HUGE
        return Q, K, V

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Five words, values of width three: output (5, 3), weights (5, 5), as a tuple."""
        self.check_shape(student, (5, 3), (5, 5))

    @pytest.mark.weight(0.45)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the word itself and the words before it."""
        for seed, (length, d, d_v) in ((41, (5, 6, 3)), (44, (3, 4, 7))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            arrays[0][1] = 0  # all scores of query 1 are 0
            self.check_weights(student, arrays, reference.causal_attention(*arrays)[1])

    @pytest.mark.weight(0.45)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        for seed, (length, d, d_v) in ((47, (5, 6, 3)), (50, (4, 3, 6))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            self.check_output(student, arrays, reference.causal_attention(*arrays)[0])

    @pytest.mark.weight(0.7)
    def test_last_word(self, student, reference):
        """The last word sees all words, so its row is that of attention without a mask."""
        for seed, (length, d, d_v) in ((106, (5, 6, 3)), (109, (4, 3, 6))):
            arrays = normal(seed, length, d), normal(seed + 1, length, d), normal(seed + 2, length, d_v)
            hint = "By which steps do scores become weights, and weights an output, where nothing is hidden?"
            wanted = [part[-1] for part in reference.causal_attention(*arrays)]
            self.same([part[-1] for part in self.attend(student, *arrays)], wanted, hint, " of the last word")

    @pytest.mark.weight(0.5)
    def test_real_sizes(self, student, reference):
        """A text of seventy words of width 96, one of 521 words, and eight heads in a batch of two."""
        for seed, sizes, (d, d_v) in ((121, (70,), (96, 64)), (127, (2, 8, 17), (11, 5)), (124, (301,), (1, 1))):
            arrays = normal(seed, *sizes, d), normal(seed + 1, *sizes, d), normal(seed + 2, *sizes, d_v)
            self.same(self.attend(student, *arrays), reference.causal_attention(*arrays), ANY_SIZE)
        many = [normal(seed, 521, 1) for seed in (130, 131, 132)]  # more words than a table of 512 holds
        # Where the reference stands in for `masked_softmax`, it answers for fewer than 370, and then the student's own
        # counts. So a mistake there costs nothing here.
        if self.is_right(student, reference, *(array[:370] for array in many)):
            self.same(self.attend(student, *many), reference.causal_attention(*many), ANY_SIZE)

    def is_right(self, student, reference, *arrays):
        """Whether a call gives what the reference does."""
        try:
            self.same(self.attend(student, *arrays), reference.causal_attention(*arrays), ANY_SIZE)
        except (AssertionError, Raised):
            return False
        return True

    @pytest.mark.weight(0.4)
    def test_batch_axes(self, student):
        """Batch axes in front, without padding: each item attends on its own, whatever padding came before."""
        self.looks_like_attention(student)
        with contextlib.suppress(Raised):  # `test_padding` judges what happens with padding
            student.causal_attention(
                *(normal(seed, 2, 5, width) for seed, width in ((65, 6), (66, 6), (67, 3))), self.PADDING
            )
        hint = "Which axes do you swap, and from which do you take sizes, when there are more than two?"
        same_item_by_item(lambda *a: tuple(self.attend(student, *a)), self.BATCH, 1, hint)
        arrays = [normal(56, 2, 3, 5, 6), normal(57, 2, 3, 5, 6), normal(58, 2, 3, 5, 4)]
        same_item_by_item(lambda *a: tuple(self.attend(student, *a)), arrays, 2, hint)

    @pytest.mark.weight(0.3)
    def test_no_look_ahead(self, student):
        """What comes later changes nothing, even if it is huge, and has weight 0, exactly."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.SMALL)
        hint = "The later words were replaced by huge ones. In which step do they still take part?"
        for seen in (1, 3):
            Q, K, V = self.Q.copy(), self.K.copy(), self.V.copy()
            Q[seen:], K[seen:], V[seen:] = normal(61, 5 - seen, 6), FAR * normal(62, 5 - seen, 6), HUGE
            after = self.attend(student, Q, K, V)
            self.same([a[:seen] for a in after], [b[:seen] for b in before], hint, " of the words before")
            for weights in after[1:]:
                zero_where(LATER, weights, hint, "the weight of a later word")
        self.check_low(student, [*all_low(64, 5, 5, 6), self.V], LATER, only=0)

    @pytest.mark.weight(0.6)
    def test_padding(self, student):
        """With padding, no query sees a padded key, and the real words find what they find without it."""
        self.looks_like_attention(student)
        before = self.attend(student, *self.BATCH, self.PADDING)
        hint = "How do the causal mask and the padding come together? A key has to pass both."
        for item, length in enumerate(self.LENGTHS):
            alone = self.attend(student, *(array[item, :length] for array in self.BATCH))
            got = [part[item, :length, : single.shape[-1]] for part, single in zip(before, alone, strict=False)]
            self.same(got, alone, hint, f" of the real words of item {item}")
        front = self.attend(student, *self.BATCH, table("00011", "01111")[:, None, :])
        for item, first in enumerate((3, 1)):
            alone = self.attend(student, *(array[item, first:] for array in self.BATCH))
            got = [part[item, first:, -single.shape[-1] :] for part, single in zip(front, alone, strict=False)]
            self.same(got, alone, hint, f" of the words of item {item} with padding in front")
        hint = "The padded keys and values were replaced by huge ones. In which row do they still take part?"
        self.same(self.attend(student, *self.with_hidden(self.LENGTHS), self.PADDING), before, hint)
        for weights in before[1:]:
            zero_where(np.broadcast_to(~self.PADDING, (2, 5, 5)), weights, hint, "the weight of a padded key")

    @pytest.mark.weight(0.25)
    def test_padded_queries(self, student):
        """Padding hides keys only: a query on a padded place finds what it would find as the last real word."""
        self.looks_like_attention(student)
        got = self.attend(student, *self.BATCH, self.PADDING)
        hint = "Which axis of the scores does the padding belong to, queries or keys?"
        for item, length in enumerate(self.LENGTHS):
            Q, K, V = (array[item, :length].copy() for array in self.BATCH)
            Q[-1] = self.BATCH[0][item, 4]  # the query of the last place, a padded one
            alone = [part[-1] for part in self.attend(student, Q, K, V)]
            found = [part[item, 4, : single.shape[-1]] for part, single in zip(got, alone, strict=False)]
            self.same(found, alone, hint, f" of item {item} at a padded query")

    @pytest.mark.weight(0.25)
    def test_empty_text(self, student):
        """In a text of length 0, or in two, nothing is found: weights and output are 0, not NaN; another is as ever."""
        self.looks_like_attention(student)
        padding = table("00000", "11110")[:, None, :]
        arrays = self.with_hidden((0, 4))
        got = self.attend(student, *arrays, padding)
        alone = self.attend(student, *(array[1:] for array in arrays), padding[1:])
        for part, single, what in zip(got, alone, ("output", "weights"), strict=False):
            all_zero(part[0], self.NOTHING, f"{what} of a text of length 0")
            expect.close(part[1], single[0], self.NOTHING, f"{what} of the other text")
        got = self.attend(student, *self.with_hidden((0, 0)), np.zeros_like(padding))
        for part, what in zip(got, ("output", "weights"), strict=False):
            all_zero(part, self.NOTHING, f"with two texts of length 0, {what}")

    @pytest.mark.weight(0.25)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers; the largest that a word may see takes all the weight."""
        self.looks_like_attention(student)
        self.check_large(student, *self.SMALL)

    @pytest.mark.weight(0.05)
    def test_one_word(self, student):
        """A text of one word, and of width one: every axis stays."""
        self.looks_like_attention(student)
        for width in (None, 1):
            parts = self.attend(student, *(a[:1, :width] for a in self.SMALL))
            for part, what in zip(parts, ("output", "weights"), strict=False):
                expect.finite(part, what=what)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        self.check_dtype(student, *self.SMALL)
        with contextlib.suppress(Raised):  # code that takes no batches loses points in the tests of batches
            self.check_dtype(student, *self.BATCH, self.PADDING)

    @pytest.mark.weight(0.25)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may have any layout in memory."""
        self.looks_like_attention(student)
        Q, V = (normal(seed, 2, width, 5).swapaxes(1, 2) for seed, width in ((59, 6), (63, 3)))
        K = normal(60, 2, 5, 12)[..., ::2]
        self.check_inputs(student, Q[0], K[0], V[0])
        with contextlib.suppress(Raised):  # as for dtypes
            self.check_inputs(student, Q, K, V, self.PADDING)

    @pytest.mark.weight(0.05)
    def test_by_name(self, student):
        """The arguments may be given by name, and `padding=None` is the same as no padding."""
        self.looks_like_attention(student)
        self.check_names(student, *self.SMALL)
        with contextlib.suppress(Raised):  # as for dtypes
            self.check_names(student, *self.BATCH, self.PADDING)
        got = self.function(student)(*self.SMALL, padding=None)
        hint = "What does your code do with the padding when there is none?"
        self.same(map(loosely, self.parts(got, *self.SMALL)), self.attend(student, *self.SMALL), hint)
