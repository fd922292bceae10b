"""Hidden tests of online_softmax_attention."""

import numpy as np
import pytest

from autograder.testing import HeldTooMuch, expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, LARGE, loosely

# The table of all scores of 256 queries and 8,700 keys has 18 MB. Code that makes a softmax of it holds two or three
# such arrays, which float32 halves. Correct code with blocks of 256 holds the scores of one, 0.5 MB, a few copies of
# that, copies of K and V, 0.5 MB, and a state of each block, 0.3 MB. In PyTorch the kernel counts up to 9 MB. The table
# is just above the least that the kernel measures: a step that goes key by key is right, and must be far from the time
# limit. (A question has 256 rows at most.)
MEMORY, KEYS, BLOCK = 2**24, 8_700, 256


@pytest.mark.exercise("online_softmax_attention")
class TestOnlineSoftmaxAttention:
    NAMES = ("Q", "K", "V", "block_size")
    SMALL = (normal(1160, 5, 7), normal(1161, 9, 7), normal(1162, 9, 3), 4)

    def attend(self, student, *args, **more):
        """The output. Weights or anything else may come with it."""
        ask = Unbatched(student.online_softmax_attention, 2, 2, 2, 0)  # `test_shape` judges code for batches only
        got = ask(*args, **more)
        return loosely(got[0] if isinstance(got, tuple) and got else got)

    def looks_like_an_attempt(self, student):
        """Fails unless other queries give another output."""
        # Other values, too: code that looks at a single key ignores queries, which the tests of values judge.
        others = [normal(1163, 5, 7), None, normal(1164, 9, 3)]
        responds(lambda *args: self.attend(student, *args), self.SMALL, others, self.NAMES)

    def compare(self, student, reference, hint, *cases):
        for keys, block_size in cases:
            args = normal(1170, 5, 7), normal(1171 + keys, keys, 7), normal(1190 + keys, keys, 3), block_size
            wanted = reference.online_softmax_attention(*args)
            expect.close(self.attend(student, *args), wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.05)
    def test_shape(self, student):
        """Five queries, values of width three: an array of shape (5, 3), and no weights."""
        expect.shape(expect.array(student.online_softmax_attention(*self.SMALL)), (5, 3))

    @pytest.mark.weight(0.27)
    def test_values(self, student, reference):
        """Several blocks of one size: the output of attention."""
        hint = "What is divided by what at the very end? And where does each block begin?"
        self.compare(student, reference, hint, (8, 4), (9, 3), (6, 1))

    @pytest.mark.weight(0.18)
    def test_last_block(self, student, reference):
        """The last block may be shorter: no key is left out, none is taken twice."""
        hint = "With 9 keys in blocks of 4, how many blocks are there, and what is in the last one?"
        self.compare(student, reference, hint, (9, 4), (11, 6))

    @pytest.mark.weight(0.05)
    def test_one_block(self, student, reference):
        """A block that holds all keys, or has room for more."""
        hint = "How many blocks are there if one holds all keys?"
        self.compare(student, reference, hint, (6, 6), (5, 50))

    @pytest.mark.weight(0.05)
    def test_low_scores(self, student):
        """Scores of 10,000, of -1,000,000, and both signs in one row, give finite numbers."""
        self.looks_like_an_attempt(student)
        Q, K = 1 + 0.1 * np.abs(normal(1210, 5, 7)), 1 + 0.1 * np.abs(normal(1211, 9, 7))
        far_apart = LARGE * self.SMALL[0], self.SMALL[1][:8]  # the largest is in the first block for some
        cases = (LARGE * Q, K), (-100 * LARGE * Q, K), far_apart
        outputs = [self.attend(student, queries, keys, self.SMALL[2][: len(keys)], 4) for queries, keys in cases]
        for output in outputs:  # all calls are made before one is judged, so that a diagnosis has all answers
            expect.finite(output, "What is the largest score so far, before the first block and after it?", "output")

    @pytest.mark.weight(0.15)
    @pytest.mark.last_digits
    def test_no_table(self, student):
        """The scores of all keys are at no time in memory: 256 queries, 8,700 keys in blocks of 256; nor is a row."""
        self.looks_like_an_attempt(student)
        Q, K, V = normal(1230, 256, 4), normal(1231, KEYS, 4), normal(1232, KEYS, 3)
        try:
            student.online_softmax_attention.within(MEMORY, Q, K, V, BLOCK)
        except HeldTooMuch as error:
            hint = (
                "Which array in your code has a row for each query and a column for each key, and who needs all of it?"
            )
            text = "the scores of a block take 0.5 MB, those of all keys 18 MB."
            expect.fail(f"{error.args[0].removesuffix('.')}; {text}", hint, reason="memory")
        self.adds_up_in_blocks(student)

    def adds_up_in_blocks(self, student):
        """Fails if sums go over all keys at once: a row of scores, or the table in memory from before the call.

        Sums that are made block by block are rounded elsewhere if blocks have another size. Those made key by key are
        not; but keys without any weight, put behind the others, leave them as they are, to the last digit.
        """
        Q, K, V = 1 + np.abs(normal(1233, 64, 4)), normal(1234, 71, 4), normal(1235, 71, 3)
        first, *others = (self.attend(student, Q, K, V, size) for size in (1, 4, 30))
        if any(not np.array_equal(first, other) for other in others):
            return
        nothing = np.full((9, 4), -LARGE), normal(1236, 9, 3)
        longer = (np.concatenate(parts) for parts in ((K, nothing[0]), (V, nothing[1])))
        if not np.array_equal(first, self.attend(student, Q, *longer, 1)):
            text = "with blocks of 1, 4 and 30 keys, the output is the same to the last digit; sums by blocks are not."
            hint = "Which of your lines looks at block_size keys, and does one look at all of them?"
            expect.fail(text, hint, reason="memory")

    @pytest.mark.weight(0.05)
    def test_batch_axes(self, student):
        """One batch axis or two: each text on its own."""
        self.looks_like_an_attempt(student)
        for axes, batch in ((1, (3,)), (2, (2, 3))):
            args = normal(1220, *batch, 5, 7), normal(1221, *batch, 9, 7), normal(1222, *batch, 9, 3)
            same_item_by_item(lambda Q, K, V: self.attend(student, Q, K, V, 4), args, axes, FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_real_sizes(self, student, reference):
        """71 keys for two texts of eight heads; 64 keys in blocks of 16, 1,100 in blocks of 1, 5,101, and one key."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_values, self.test_last_block)
        cases = (2, 8, 33, 12, 71, 12, 16), (1, 1, 16, 16, 64, 9, 16), (1, 9, 2, 9, 33, 2, 1), (16, 1, 1, 1, 2, 1, 2)
        for number, (B, h, L, d_k, S, d_v, block) in enumerate(
            # A function that calls itself once for each block goes no further than Python's limit, a thousand.
            (
                *cases,
                (1, 1, 64, 2, 1, 16, 1),
                (1, 2, 3, 4, 71, 3, 70),
                (1, 1, 1, 1, 1100, 1, 1),
                (1, 1, 1, 1, 5101, 1, 64),
            )
        ):
            Q, K = normal(1650 + 3 * number, B, h, L, d_k), normal(1651 + 3 * number, B, h, S, d_k)
            args = Q, K, normal(1652 + 3 * number, B, h, S, d_v), block
            wanted, got = reference.online_softmax_attention(*args), self.attend(student, *args)
            if plain:
                expect.close(got, wanted, ANY_SIZE, "the output", ATOL)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.attend(student, *(array.astype(dtype) for array in self.SMALL[:3]), 4)
            expect.dtype(got, dtype, DTYPE, "the output")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        views = [array.T.copy().T for array in self.SMALL[:3]]
        by_name = self.attend(student, **dict(reversed(list(zip(self.NAMES, (*views, 4), strict=True)))))
        expect.close(by_name, self.attend(student, *self.SMALL), BY_NAME, "output", ATOL)
        after = student.online_softmax_attention.inputs_after(*views, 4)
        expect.unchanged(after, [*views, 4], self.NAMES, IN_PLACE)
