"""Hidden tests of DecoderBlock."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ...hidden.modules import (
    Module,
    answer_alone,
    expect_parameters,
    gradients_reach,
    keeps_nothing,
    same_each_time,
    same_in_training,
    with_any_weights,
)
from ...hidden.modules_as_made import begins_well
from ..shared_hidden_tests import (
    ATOL,
    ATTENTION_MATRICES,
    ATTENTION_SILENT,
    BY_NAME,
    FEED_FORWARD_MATRICES,
    FEED_FORWARD_SILENT,
    KEPT,
    block_weights,
    silent,
    with_padding,
)

WIDE = 6.0  # a word's numbers differ so much that the norms' eps, which has a test of its own, does not matter
LOUD = 1e5  # put where nobody may look

# Padding at the beginning and in the middle, where the causal mask does not already hide it.
PADDING = np.array([[0, 1, 1, 1, 1], [0, 0, 1, 0, 1]], dtype=bool)[:, np.newaxis]  # (2, 1, 5)


def words(seed, *shape):
    """Words whose first two numbers are far apart, so that eps does not matter even where they are the only ones."""
    x = WIDE * normal(seed, *shape) + 3
    x[..., 0] += 4 * WIDE * np.sign(x[..., 0] - x[..., 1])
    return x.astype(np.float32)


@pytest.mark.exercise("DecoderBlock")
class TestDecoderBlock:
    X = 1.3 * normal(401, 2, 5, 12) + 0.6  # two texts of five words, not normalised
    WEIGHTS = block_weights(410)
    # A seed, the shape of x, heads and d_ff. The first also runs in `train()`, the third has no padding
    REAL = (
        (1210, (1, 70, 24), 3, 7),
        (1230, (2, 16, 15), 5, 16),
        (1250, (2, 70, 96), 8, 10),
        (1270, (1, 257, 2), 1, 3),
    )
    # More words than a table of 512 holds. Where the reference stands in for the attention, it answers less than ASKED
    MANY, ASKED = 521, 370
    # A seed, sizes, layers of zeros, and the hint
    ATTENTION_ALONE = (
        440, (12, 3, 48), FEED_FORWARD_SILENT,
        "What goes into the attention, what comes out, and what is it added to? Where does each arrow start?",
    )  # fmt: skip
    FEED_FORWARD_ALONE = (
        480, (8, 2, 30), ATTENTION_SILENT,
        "What goes into the feed-forward network, through which norm, and what is its result added to?",
    )  # fmt: skip

    def block(self, student, d_model=12, num_heads=3, d_ff=48):
        return Module(student.DecoderBlock, d_model, num_heads, d_ff)

    def run(self, block, x=X, weights=WEIGHTS, dtype=np.float32, padding=None):
        """The block's output for x, in the shape of x."""
        more = () if padding is None else (padding,)
        got = block.value(weights, x.astype(dtype), *more, dtype=dtype)
        expect.shape(got, x.shape, what="the output")
        return got

    def looks_like_block(self, block):
        """Fails unless words influence each other: another word 2 changes the output of some other word."""
        x = self.X.copy()
        x[:, 2] = normal(430, 2, 12)
        first, other = self.run(block), self.run(block, x)
        rest = [0, 1, 3, 4]
        expect.differs(
            other[:, rest], first[:, rest], "Is the attention used?", "when word 2 changes, the others' output"
        )
        return first

    def compare(self, student, reference, seed, sizes, names, hint):
        """Fails unless the output, with zeros in the layers `names`, is the reference's."""
        weights = silent(block_weights(seed, *sizes), *names)
        x = WIDE * normal(seed + 15, 2, 5, sizes[0]) + 3
        wanted = Module(reference.DecoderBlock, *sizes).value(weights, x, dtype=np.float64)
        expect.close(self.run(self.block(student, *sizes), x, weights), wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.24)
    def test_shape(self, student):
        """A batch of two texts of five words comes out in the shape it went in: (2, 5, 12)."""
        got = with_any_weights(self.block(student), self.WEIGHTS, self.X.astype(np.float32))
        expect.shape(expect.tensor(got, "How many things does forward return?"), (2, 5, 12))

    @pytest.mark.weight(0.42)
    def test_parameters(self, student):
        """The parameters are those of two norms, the attention and two linear layers, and no others."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        block.expect_names(self.WEIGHTS)
        hint = "Go through the members one by one: which layer is missing, doubled, or has another width?"
        for sizes in ((12, 3, 48), (8, 2, 30)):
            expect_parameters(student.DecoderBlock.build(*sizes), block_weights(0, *sizes), hint)

    @pytest.mark.weight(0.8)
    def test_attention_branch(self, student, reference):
        """With a feed-forward network of zeros, the block adds to x the causal attention of the normalised x."""
        self.compare(student, reference, *self.ATTENTION_ALONE)

    @pytest.mark.weight(0.8)
    def test_feed_forward_branch(self, student, reference):
        """With an attention of zeros, the block adds to x the feed-forward network of the normalised x."""
        self.compare(student, reference, *self.FEED_FORWARD_ALONE)

    @pytest.mark.weight(0.6)
    def test_real_sizes(self, student, reference):
        """70 words, 257, 521, or eight heads on a width of 96, also padded; in `train()` it does as in `eval()`."""
        hint = expect.IfOthersPass(
            "With five words other tests judge this. Is there a size in your code as a number? What keeps a mask?"
        )
        for number, (seed, shape, heads, d_ff) in enumerate(self.REAL):
            sizes = (shape[-1], heads, d_ff)
            weights, x = block_weights(seed, *sizes), words(seed + 15, *shape)
            args = (x,) if number == 2 else (x, with_padding(*shape[:2]))
            block = self.block(student, *sizes)
            if not number:
                same_in_training(block, weights, *args)
            wanted = Module(reference.DecoderBlock, *sizes).value(weights, *args)
            what = f"the output for {shape[1]} words and {heads} heads"
            expect.close(block.value(weights, *args), wanted, hint, what, ATOL)
        self.compare_many_words(student, reference, hint)

    def compare_many_words(self, student, reference, hint):
        """Fails unless more words are right, too. Code that needs the reference's attention is not asked."""
        sizes, x = (2, 1, 3), words(1290, 1, self.MANY, 2)
        weights, block = block_weights(1291, *sizes), self.block(student, *sizes)
        if answer_alone(block, weights, [x[:, : self.ASKED]]) is not None:
            wanted = Module(reference.DecoderBlock, *sizes).value(weights, x)
            expect.close(block.value(weights, x), wanted, hint, f"the output for {self.MANY} words", ATOL)

    @pytest.mark.weight(0.2)
    def test_eps(self, student, reference):
        """The norms' eps is that of `nn.LayerNorm`, if nothing else is said."""
        block = self.block(student)
        self.looks_like_block(block)
        x = 0.01 * normal(575, 2, 5, 12)  # a variance of 1e-4, ten times eps
        for case in (self.ATTENTION_ALONE, self.FEED_FORWARD_ALONE):
            if expect.holds(lambda case=case: self.compare(student, reference, *case)):  # otherwise other tests fail
                weights = silent(self.WEIGHTS, *case[2])
                wanted = Module(reference.DecoderBlock, *block.construct).value(weights, x, dtype=np.float64)
                hint = "Which eps do your norms have, and who chose it?"
                expect.close(self.run(block, x, weights, np.float64), wanted, hint, "for small x, the output", ATOL)

    @pytest.mark.weight(0.6)
    def test_values(self, student, reference):
        """Both branches: first attention, and the feed-forward network works on what it gave."""
        # If one branch alone is wrong, the message is about that, and both together are not judged.
        self.compare(student, reference, *self.ATTENTION_ALONE)
        self.compare(student, reference, *self.FEED_FORWARD_ALONE)
        hint = "Each branch alone is right. What does the second one start from?"
        self.compare(student, reference, 520, (12, 3, 48), (), hint)

    @pytest.mark.weight(0.67)
    def test_causal(self, student):
        """No word hears from a later one, however loud it is; each hears from itself and from earlier ones."""
        block = self.block(student)
        free = self.looks_like_block(block)
        for word in (1, 4):
            x = self.X.copy()
            x[:, word] = LOUD * normal(541, 2, 12)
            got = self.run(block, x)
            hint = f"Word {word} was changed. Which rows of the mask may see column {word}?"
            expect.close(got[:, :word], free[:, :word], hint, "the output of the words before", ATOL)
        # Word 0 changes. Its own residual cannot carry the change to word 3.
        x = self.X.copy()
        x[:, 0] = -x[:, 0]
        got = self.run(block, x)
        expect.differs(
            got[:, 3], free[:, 3], "May a word see all earlier ones?", "when word 0 changes, word 3's output"
        )

    @pytest.mark.weight(0.28)
    def test_padding(self, student):
        """No word looks at padding: real words get what they would get without it."""
        block = self.block(student)
        free = self.looks_like_block(block)
        hint = "padding is (B, 1, L), True on real words. Which axes do the scores have, and must both masks hold?"
        got = self.run(block, padding=PADDING)
        expect.finite(got, hint, "the output")
        expect.differs(got, free, "What is padding used for?", "with padding, the output")
        everything = self.run(block, padding=np.ones((2, 1, 5), dtype=bool))
        expect.close(everything, free, "Padding that hides nothing should change nothing.", "the output", ATOL)
        beside = PADDING | np.array([False, True])[:, np.newaxis, np.newaxis]  # text 1 is all real now
        for padding, out in ((PADDING, got), (beside, self.run(block, padding=beside))):
            for b in range(2):
                real = np.flatnonzero(padding[b, 0])
                alone = self.run(block, self.X[b : b + 1, real])
                expect.close(out[b, real], alone[0], hint, f"the output of text {b}'s real words", ATOL)

    @pytest.mark.weight(0.25)
    def test_nothing_to_attend_to(self, student):
        """Padding at the very beginning may look at nothing: its attention is 0, and the rest goes on."""
        block = self.block(student)
        self.looks_like_block(block)
        got = self.run(block, padding=PADDING)
        hint = "What does the block do with the weights of a word that may look at nothing?"
        expect.finite(got, hint, "the output")
        mute = self.run(block, weights=silent(self.WEIGHTS, *ATTENTION_SILENT))
        expect.close(got[:, 0], mute[:, 0], hint, "the output of the padding at the beginning", ATOL)

    @pytest.mark.weight(0.2)
    def test_as_made(self, student):
        """As it is made, it can learn: in float32, with numbers of ordinary size, and no head like another."""
        block = self.block(student)
        self.looks_like_block(block)
        block = self.block(student, 12, 6, 20)
        weights = block_weights(0, 12, 6, 20)
        x, seed = (tensor(normal(seed, 2, 5, 12).astype(np.float32)) for seed in (571, 572))
        begins_well(block, weights, x, seed, 6, (ATTENTION_MATRICES, FEED_FORWARD_MATRICES))

    @pytest.mark.weight(0.2)
    def test_batch(self, student):
        """Each text of a batch is on its own, and so is each call; one text and one word are fine."""
        block = self.block(student)
        free = self.looks_like_block(block)
        hint = "Does one text's result depend on the others in the batch, or is an axis of length one dropped?"
        for b in range(2):
            expect.close(self.run(block, self.X[b : b + 1])[0], free[b], hint, f"the output of text {b} alone", ATOL)
        expect.close(self.run(block, self.X[:, :1]), free[:, :1], hint, "the output of the first word alone", ATOL)
        keeps_nothing(block, self.WEIGHTS, self.X.astype(np.float32), PADDING, KEPT)

    @pytest.mark.weight(0.33)
    def test_gradients(self, student):
        """Gradients reach x and every parameter."""
        block = self.block(student)
        self.looks_like_block(block)
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way, or a layer that is not used?"
        gradients_reach(block, self.WEIGHTS, [self.X], normal(551, 2, 5, 12), hint)

    @pytest.mark.weight(0.21)
    def test_dtype(self, student):
        """A float32 block gives float32, a float64 block float64, also with padding."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        for dtype in (np.float32, np.float64):
            got = self.run(block, dtype=dtype, padding=PADDING)
            expect.dtype(got, dtype, "Which dtype has what you make yourself?", "the output")

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """Arguments may come by keyword or by position and with any layout in memory, and are not changed."""
        block = self.block(student)
        self.looks_like_block(block)
        x = normal(561, 2, 12, 5).astype(np.float32).swapaxes(-1, -2)
        plain = self.run(block, np.ascontiguousarray(x), padding=PADDING)
        options = {"d_ff": 48, "num_heads": 3, "d_model": 12}
        parameters = block.named(self.WEIGHTS, np.float32)
        named = {"x": tensor(x), "padding": tensor(PADDING)}
        by_name = student.DecoderBlock.run((), parameters, options=options, training=False, **named)
        expect.close(expect.tensor(by_name.value), plain, "Is memory read in the order of the axes?", "output", ATOL)
        by_place = block.run(self.WEIGHTS, x, PADDING)
        expect.close(expect.tensor(by_place.value), plain, BY_NAME, "output", ATOL)
        hint = "Look for operators like += or &= on an argument."
        expect.unchanged(by_place.after, [tensor(x), tensor(PADDING)], ["x", "padding"], hint)
