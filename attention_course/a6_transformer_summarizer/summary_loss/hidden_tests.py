"""Hidden tests of summary_loss."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ...hidden.properties import gradients_match, responds
from ..shared_hidden_tests import ATOL, EXACT, LARGE, LOUD

B, L, V = 3, 11, 7
# Articles of 3, 4 and 2 words, then a separator, then 3, 6 and 5 counted tokens; the rest is filling.
COUNTED = np.zeros((B, L), dtype=bool)
for row, (start, stop) in enumerate(((4, 7), (5, 11), (3, 8))):
    COUNTED[row, start:stop] = True


def batch_of(seed, dtype=np.float64):
    """Logits (B, L, V), token ids (B, L), mask (B, L). Neighbouring tokens differ."""
    random = np.random.default_rng(seed + 500)
    steps = random.integers(1, V, size=(B, L))
    return tensor(1.5 * normal(seed, B, L, V, dtype=dtype)), tensor(steps.cumsum(1) % V), tensor(COUNTED.copy())


@pytest.mark.exercise("summary_loss")
class TestSummaryLoss:
    def loss(self, student, *args, **kwargs):
        """The loss as an array; a plain number is accepted here."""
        got = student.summary_loss(*args, **kwargs)
        if not hasattr(got, "detach") and not isinstance(got, int | float | np.generic | np.ndarray):
            expect.fail(f"returned {expect.kind_of(got)}, where a loss belongs.")
        return np.asarray(expect.numbers(got))

    def looks_like_a_loss(self, student):
        """The ordinary batch. Fails unless the loss depends on logits, ids and mask."""
        batch = batch_of(1)
        other_mask = COUNTED.copy()
        other_mask[0, 6:9] = [False, True, True]
        responds(
            lambda *args: self.loss(student, *args),
            batch,
            [batch_of(2)[0], batch_of(2)[1], tensor(other_mask)],
            ("logits", "token_ids", "loss_mask"),
        )
        return batch

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """One number: a tensor without axes."""
        got = student.summary_loss(*batch_of(1))
        expect.shape(expect.tensor(got), (), "How do many losses become one number?")

    @pytest.mark.weight(0.4)
    def test_real_sizes(self, student, reference):
        """Seventy tokens and a vocabulary of 130; 5,101 tokens; one text of two tokens and two words."""
        hint = expect.IfOthersPass(
            "With eleven tokens another test judges this. Is there a size in your code as a number?"
        )
        sizes = (31, (2, 70, 130)), (33, (1, 2, 2)), (35, (8, 33, 64)), (37, (1, 64, 3)), (39, (1, 5101, 2))
        for seed, (texts, length, words) in sizes:
            random = np.random.default_rng(seed)
            ids, counted = random.integers(0, words, size=(texts, length)), np.arange(length) >= length // 2
            counted = np.broadcast_to(counted, (texts, length)) & (random.random((texts, length)) < 0.9)
            counted[:, -1] = True
            given = tensor(1.5 * normal(seed + 1, texts, length, words)), tensor(ids), tensor(counted)
            what = f"the loss for {texts} texts of {length} tokens"
            expect.close(self.loss(student, *given), reference.summary_loss(*given), hint, what, ATOL)

    @pytest.mark.weight(1.7)
    def test_values(self, student, reference):
        """The mean cross-entropy of the next token, over the tokens that the mask counts."""
        hint = "Take one counted token: at which place are the logits that predict it, and what does it cost alone?"
        logits, ids, mask = batch_of(11)
        mask[:] = False
        mask[1, 6] = True
        wanted = reference.summary_loss(logits, ids, mask)
        if expect.holds(lambda: expect.close(self.loss(student, logits, ids, mask), wanted, atol=ATOL)):
            hint = "With one counted token alone your loss is right. With more: what is summed, and divided by what?"
        for seed in (11, 12):
            batch = batch_of(seed)
            expect.close(self.loss(student, *batch), reference.summary_loss(*batch), hint, "the loss", ATOL)

    @pytest.mark.weight(0.35)
    def test_only_what_counts(self, student):
        """Logits that predict no counted token have no influence."""
        logits, ids, mask = self.looks_like_a_loss(student)
        plain = self.loss(student, logits, ids, mask)
        moved = logits.clone()
        predicts = np.zeros((B, L), dtype=bool)
        predicts[:, :-1] = COUNTED[:, 1:]
        moved[tensor(~predicts)] = LOUD * tensor(normal(21, int((~predicts).sum()), V))
        hint = "Which place predicts the first word of the summary, and which one predicts the end?"
        expect.close(self.loss(student, moved, ids, mask), plain, hint, "the loss", EXACT)

    @pytest.mark.weight(0.35)
    def test_every_token_counts_the_same(self, student):
        """A mean over all counted tokens of the batch: a text with six of them has twice the say of one with three."""
        logits, ids, mask = self.looks_like_a_loss(student)
        rows = [[0], [1], [2]]
        alone = [float(self.loss(student, logits[r], ids[r], mask[r]).sum()) for r in rows]
        wanted = np.average(alone, weights=COUNTED.sum(1))
        got = self.loss(student, logits, ids, mask)
        expect.shape(got, ())
        hint = "One text has 3 counted tokens, another has 6. What is the sum divided by?"
        expect.close(got, wanted, hint, "the loss", ATOL)

    @pytest.mark.weight(0.35)
    def test_gradients(self, student):
        """Gradients reach the logits, so that a model can learn."""
        logits, ids, mask = self.looks_like_a_loss(student)
        shape = self.loss(student, logits, ids, mask).shape
        seeds = [tensor(np.full(shape, 1.3))]
        hint = "Is there an .item(), .detach() or torch.no_grad() on the way?"
        gradients_match(student.summary_loss, [logits, ids, mask], seeds, hint, ["logits"])

    @pytest.mark.weight(0.2)
    def test_large_logits(self, student):
        """Logits of 10,000 still give a finite loss, and twice as large ones twice the loss."""
        logits, ids, mask = self.looks_like_a_loss(student)
        hint = "Where is an exp without something subtracted first, or the log of a number that has become 0?"
        once, twice = (self.loss(student, size * logits, ids, mask) for size in (LARGE, 2 * LARGE))
        expect.finite(once, hint, "the loss")
        # With logits this far apart, a word's loss is the difference between its logit and the largest.
        atol = 1e-3 * max(1.0, float(np.abs(once).max()))
        expect.close(twice / 2, once, "Is a probability kept from becoming 0?", "half the loss", atol)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 logits give a float32 loss, float64 a float64 one."""
        logits, ids, mask = self.looks_like_a_loss(student)
        for dtype in (np.float32, np.float64):
            got = student.summary_loss(tensor(logits.numpy().astype(dtype)), ids, mask)
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?", "the loss")

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        logits, ids, mask = self.looks_like_a_loss(student)
        turned = tensor(np.ascontiguousarray(logits.numpy().transpose(2, 1, 0)).transpose(2, 1, 0))
        plain = self.loss(student, logits, ids, mask)
        hint = "Is memory read in the order of the axes? reshape can do what view cannot."
        by_name = self.loss(student, loss_mask=mask, logits=turned, token_ids=ids)
        expect.close(by_name, plain, hint, "the loss", EXACT)
        given = [logits, ids, mask]
        after = student.summary_loss.inputs_after(*(g.clone() for g in given))
        expect.unchanged(after, given, ["logits", "token_ids", "loss_mask"], "Look for functions that end in _.")
