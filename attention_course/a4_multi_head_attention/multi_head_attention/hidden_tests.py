"""Hidden tests of multi_head_attention."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import parts
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, KEYS, MASK, MultiHeadTests, padded, weights_for


@pytest.mark.exercise("multi_head_attention")
class TestMultiHeadAttention(MultiHeadTests):
    def attention(self, student, d_model=12, num_heads=3, d_head=4):
        """If the student's function takes batches only, it gets a batch of one; `test_shape` judges that."""

        def attend(X, *weights, mask=None):
            more = [] if mask is None else [mask]
            ask = Unbatched(student.multi_head_attention, 2, 0)
            output, got = expect.pair(ask(X, *weights, num_heads, *more))
            return expect.array(output), expect.array(got)

        return attend

    def without_help(self, student):
        def attend(X, *weights):
            output, got = expect.pair(student.multi_head_attention(X, *weights, 3))
            return expect.array(output), expect.array(got)

        return attend

    @pytest.mark.weight(0.3)
    def test_widths(self, student):
        """d_model need not be h * d_k, nor d_v be d_k, as in the example with X (3, 4) and W_Q (4, 6)."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        # Zeros change nothing: d_model = 7 padded to 12, and d_v = 2 padded to 4, are the ordinary case.
        hint = "d_model is 7, h is 3, d_k is 4. Which shapes tell you so?"
        X, (W_Q, W_K, W_V, W_O) = normal(191, 5, 7), weights_for(192, d_model=7)
        output, weights = self.attend(attention, X, (W_Q, W_K, W_V, W_O))
        wide = [*(padded(W, (12, 12)) for W in (W_Q, W_K, W_V)), padded(W_O, (12, 12))]
        wanted = self.attend(attention, padded(X, (5, 12)), wide)
        expect.close(weights, wanted[1], hint, "weights", ATOL)
        expect.shape(output, (5, 7), hint, "output")
        expect.shape(wanted[0], (5, 12), hint, "output")
        expect.close(output, wanted[0][:, :7], hint, "output", ATOL)

        hint = "d_k is 4 and d_v is 2. From which matrix can you read the width of a head's values?"
        W_Q, W_K, W_V, W_O = weights_for(197, d_v=2)  # W_V (12, 6), W_O (6, 12)
        blocks = [padded(block, (12, 4)) for block in np.split(W_V, 3, axis=1)]
        rows = [padded(block, (4, 12)) for block in np.split(W_O, 3, axis=0)]
        output, weights = self.attend(attention, self.X, (W_Q, W_K, W_V, W_O))
        wanted = self.attend(attention, self.X, (W_Q, W_K, np.concatenate(blocks, axis=1), np.concatenate(rows)))
        expect.close(weights, wanted[1], hint, "weights", ATOL)
        expect.close(output, wanted[0], hint, "output", ATOL)

    @pytest.mark.weight(0.35)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_attention(self.attention(student))
        function = student.multi_head_attention
        every_second = [normal(seed, 12, 24)[:, ::2] for seed in (202, 203)]
        views = [normal(201, 12, 5).T / 4, *every_second, *(w.T for w in self.WEIGHTS[2:])]
        plain = parts(expect.pair(function(*map(np.ascontiguousarray, views), 3, MASK)))
        names = ["X", *KEYS]
        by_name = parts(expect.pair(function(**dict(zip(names, views, strict=True)), num_heads=3, mask=MASK)))
        for name, got, wanted in zip(("output", "weights"), by_name, plain, strict=True):
            expect.close(got, wanted, "Is memory read in the order of the axes?", name, ATOL)
        given = [*views, 3, MASK]
        hint = "Look for operators like /= or &= on an argument."
        expect.unchanged(function.inputs_after(*given), given, [*names, "num_heads", "mask"], hint)
