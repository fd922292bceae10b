"""Hidden tests of ModernDecoderBlock."""

import math

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ...hidden.modules import (
    Module,
    expect_parameters,
    gradients_reach,
    same_each_time,
    with_any_weights,
)
from ...hidden.modules_as_made import begins_well
from ...hidden.properties import ANY_SIZE, holds_in
from ..shared_hidden_tests import ATOL, LOUD


def block_weights(seed, d_model=24, num_heads=6, num_kv_heads=2, d_ff=20):
    """Weights of a block by name. Scores are around 2, and both branches add numbers around 1."""
    narrow, size = d_model // num_heads * num_kv_heads, 1.4 / math.sqrt(d_model)
    shapes = {"W_Q": (d_model, d_model), "W_K": (narrow, d_model), "W_V": (narrow, d_model), "W_O": (d_model, d_model)}
    shapes |= {"W_gate": (d_ff, d_model), "W_up": (d_ff, d_model), "W_down": (d_model, d_ff)}
    found = {f"norm_{i}": 1 + 0.4 * normal(seed + i, d_model) for i in (1, 2)}
    return found | {
        f"{name}.weight": size * normal(seed + 5 + i, *shape) for i, (name, shape) in enumerate(shapes.items())
    }


def words(seed, *shape):
    """Words so far from zero that epsilon, which has a test of its own, does not matter."""
    return 6 * normal(seed, *shape) + 2


def right(reference, sizes, weights, x):
    """The output of the reference, in float64."""
    return Module(reference.ModernDecoderBlock, *sizes).value(weights, x, dtype=np.float64, training=False)


def silent(weights, name):
    """`weights` with zeros in the layer `name`, whose branch then adds nothing."""
    return {key: value * (key != f"{name}.weight") for key, value in weights.items()}


class Block(Module):
    """A student's block in `eval()`, so that dropout costs only the one test that uses `train()`.

    Biases that should not exist are zero, because one test judges them, too.
    """

    def run(self, weights, *args, training=False, **more):
        self.shapes = self.shapes or self.function.build(*self.construct)
        return super().run(weights, *args, training=training, **more)

    def named(self, weights, dtype):
        given = set(self.names(weights).values())  # other parameters keep their initial values, except for biases
        found = super().named(weights, dtype)
        return {name: value for name, value in found.items() if name in given or name.endswith("bias")}


@pytest.mark.exercise("ModernDecoderBlock")
class TestModernDecoderBlock:
    SIZES = (24, 6, 2, 20)  # d_model, num_heads, num_kv_heads, d_ff
    X = 1.3 * normal(1320, 2, 5, 24) + 0.4  # two texts of five words
    WEIGHTS = block_weights(1330)

    def block(self, student, *sizes):
        return Block(student.ModernDecoderBlock, *(sizes or self.SIZES))

    def run(self, block, x=X, weights=WEIGHTS, dtype=np.float32, **more):
        """The block's output for x, in the shape of x."""
        got = block.value(weights, x.astype(dtype), dtype=dtype, **more)
        expect.shape(got, x.shape, what="the output")
        return got

    def looks_like_block(self, block):
        """Fails unless words influence each other: another word 2 changes the output of some other word."""
        x = self.X.copy()
        x[:, 2] = normal(1340, 2, 24)
        first, other, rest = self.run(block), self.run(block, x), [0, 1, 3, 4]
        hint = "Is the attention used?"
        expect.differs(other[:, rest], first[:, rest], hint, "when word 2 changes, the others' output")
        return first

    def compare(self, student, reference, seed, sizes, silenced, hint):
        """Fails unless the output, with zeros in one layer, is the reference's."""
        weights = block_weights(seed, *sizes[:4])
        weights = silent(weights, silenced) if silenced else weights
        x = words(seed + 15, 2, 7, sizes[0])
        expect.close(
            self.run(self.block(student, *sizes), x, weights),
            right(reference, sizes, weights, x),
            hint,
            "the output",
            ATOL,
        )

    def attention_alone(self, student, reference):
        """The output without a feed-forward network."""
        hint = "Which of the three is turned, by which positions, and when? Who shares keys with whom?"
        self.compare(student, reference, 1350, (24, 6, 2, 20), "W_down", hint)
        self.compare(student, reference, 1370, (8, 2, 2, 12), "W_down", hint)

    def feed_forward_alone(self, student, reference):
        """The output without attention."""
        hint = "Which two layers get the normalised words, what goes through SiLU, and what is the result added to?"
        self.compare(student, reference, 1390, (8, 2, 1, 12), "W_O", hint)

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """A batch of two texts of five words comes out in the shape it went in: (2, 5, 24)."""
        got = with_any_weights(self.block(student), self.WEIGHTS, self.X.astype(np.float32))
        expect.shape(expect.tensor(got, "How many things does forward return?"), (2, 5, 24))

    @pytest.mark.weight(0.3)
    def test_parameters(self, student):
        """The parameters are two norms and seven matrices, without biases, and no others."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        block.expect_names(self.WEIGHTS)
        hint = "Go through the table row by row: which member is missing, doubled, or has another width?"
        for sizes in (self.SIZES, (8, 2, 1, 30)):
            expect_parameters(student.ModernDecoderBlock.build(*sizes), block_weights(0, *sizes), hint)
        # Both norms keep their initial values first, and are then filled with ones.
        as_made = {name: value for name, value in self.WEIGHTS.items() if not name.startswith("norm")}
        ones = as_made | {name: np.ones(24) for name in ("norm_1", "norm_2")}
        hint = "With which numbers do norm_1 and norm_2 begin?"
        expect.close(
            self.run(block, weights=as_made), self.run(block, weights=ones), hint, "a new block's output", ATOL
        )

    @pytest.mark.weight(0.7)
    def test_attention_branch(self, student, reference):
        """With a silent feed-forward network, the block adds to x the attention of the normalised x."""
        self.attention_alone(student, reference)

    @pytest.mark.weight(0.7)
    def test_feed_forward_branch(self, student, reference):
        """With a silent attention, the block adds to x the gated feed-forward network of the normalised x."""
        self.feed_forward_alone(student, reference)

    @pytest.mark.weight(0.6)
    def test_values(self, student, reference):
        """Both branches: first attention, and the feed-forward network works on what it gave."""
        # If one branch alone is wrong, the message is about that, and both together are not judged.
        self.attention_alone(student, reference)
        self.feed_forward_alone(student, reference)
        hint = "Each branch alone is right. What does the second one start from?"
        self.compare(student, reference, 1410, (24, 6, 3, 20), "", hint)

    @pytest.mark.weight(0.2)
    def test_eps(self, student):
        """The norms add 1e-5 to the mean of the squares: words that are nearly nothing stay small."""
        block = self.block(student)
        self.looks_like_block(block)
        word, alone = (
            self.X[:, :1],
            silent(self.WEIGHTS, "W_down"),
        )  # a single word sees itself, so W_O W_V of its norm is added
        added = [np.abs(self.run(block, size * word, alone) - size * word).mean() for size in (1.0, 1e-3)]
        # The mean of the squares is about 2e-6. With epsilon 1e-5 the ratio is 0.4, with 1e-6 0.8, and with none 1.
        if not 0.2 < added[1] / max(added[0], 1e-9) < 0.6:
            text = (
                f"with words a thousandth as large, what is added to them is {added[1] / max(added[0], 1e-9):.2f} times"
            )
            expect.fail(f"{text} as large.", "To what is epsilon added, and how large is it?")

    @pytest.mark.weight(0.6)
    def test_window(self, student, reference):
        """Through a window of 3, a word sees itself and the two before it."""
        hint = "How many words does a window of 3 hold, the word itself among them?"
        self.compare(student, reference, 1430, (24, 6, 2, 20, 3), "W_down", hint)
        self.compare(
            student, reference, 1470, (24, 6, 2, 20, 1), "W_down", "Whom does a word see through a window of 1?"
        )

    @pytest.mark.weight(0.6)
    def test_training(self, student):
        """In training the output is the same as in eval(): a dropout would have to be off when it is graded."""
        block = self.block(student)
        still = self.looks_like_block(block)
        hint = "What is otherwise in your block while it is trained, and is it off if you hand it in?"
        long, one, weights = self.long(student)
        # Code that cannot read this many words loses points in the test of sizes.
        reads_long = expect.holds(lambda: self.run(one, long, weights))
        cases = [(block, self.X, self.WEIGHTS, still)]
        cases += [(one, long, weights, self.run(one, long, weights))] if reads_long else []
        for asked, x, given, plain in cases:
            got = self.run(asked, x, given, training=True)
            expect.finite(plain, "Where is the first NaN?", "the output")
            expect.close(got, plain, hint, "in training, the output", ATOL)

    def long(self, student):
        """Two texts of 71 words, their block with eight heads and a window of 33, and its weights."""
        sizes = 96, 8, 2, 64, 33
        return words(1500, 2, 71, 96), self.block(student, *sizes), block_weights(1510, *sizes[:4])

    @pytest.mark.weight(0.6)
    def test_real_sizes(self, student, reference):
        """71 words in eight heads; 64 without a window; one word, two, and one head of width 2; one after the other."""
        self.looks_like_block(self.block(student))
        plain = holds_in(student, reference, self.test_values, self.test_window)
        x, block, weights = self.long(student)
        cases = [(x, block.construct, weights)]
        for number, (shape, sizes) in enumerate(
            [((1, 64, 66), (66, 33, 11, 9)), ((2, 1, 2), (2, 1, 1, 1)), ((1, 2, 32), (32, 16, 16, 2, 16))]
        ):
            cases += [(words(1530 + number, *shape), sizes, block_weights(1540 + 20 * number, *sizes[:4]))]
        for x, sizes, weights in cases:
            wanted, got = right(reference, sizes, weights, x), self.run(self.block(student, *sizes), x, weights)
            if plain:
                expect.close(got, wanted, ANY_SIZE, "the output", ATOL)
        x = normal(1490, 3, 8, 24)
        few = x[:2, :3]
        for window, before, then in (((), x[:1, :5], x), ((), x, few), ((2,), few, x), ((), few, few)):
            self.after_another(self.block(student, *self.SIZES, *window), before, then)

    def after_another(self, block, before, then):
        """Fails unless a block that has read other texts gives what a new one gives."""
        hint = "What does the block keep from the first texts it reads, and does that fit the next ones?"
        wanted = self.run(block, then)
        got = self.run(block, then, after=[tensor(before.astype(np.float32))])
        what = f"after {len(before)} texts of {before.shape[1]} words, the output for {len(then)} of {then.shape[1]}"
        expect.close(got, wanted, hint, what, ATOL)

    @pytest.mark.weight(0.3)
    def test_causal(self, student):
        """No word hears from a later one, however loud it is or low its own score; each hears from those before."""
        block = self.block(student)
        free = self.looks_like_block(block)
        for word in (1, 4):
            x = self.X.copy()
            x[:, word] = LOUD * normal(1441, 2, 24)
            hint = f"Word {word} was changed. Who may see it?"
            expect.close(self.run(block, x)[:, :word], free[:, :word], hint, "the output of the words before", ATOL)
        x, low = self.X.copy(), self.low()
        x[:, 4] = normal(1443, 2, 24)
        hint = "A word's score with itself is far below zero here. What stands for a hidden one, and is it lower still?"
        got, wanted = (self.run(block, words, low)[:, :4] for words in (x, self.X))
        expect.close(got, wanted, hint, "with very low scores, the output of the words before", ATOL)
        x = self.X.copy()
        x[:, 0] = -x[:, 0]
        hint = "Without a window, may a word see all earlier ones?"
        expect.differs(self.run(block, x)[:, 4], free[:, 4], hint, "when word 0 changes, word 4's output")

    def low(self):
        """Weights that give a word a score of some millions below zero with itself, in the first head of a group."""
        W_Q = 1e3 * self.WEIGHTS["W_Q.weight"]
        return self.WEIGHTS | {"W_Q.weight": W_Q, "W_K.weight": -W_Q.reshape(6, 4, 24)[[0, 3]].reshape(8, 24)}

    @pytest.mark.weight(0.2)
    def test_as_made(self, student):
        """As it is made, it can learn: in float32, with numbers of ordinary size, and no head like another."""
        block = self.block(student)
        self.looks_like_block(block)
        x, seed = (tensor(normal(seed, 2, 5, 24).astype(np.float32)) for seed in (1481, 1482))
        names = [
            [f"{name}.weight" for name in names]
            for names in (("W_Q", "W_O", "W_K", "W_V"), ("W_gate", "W_up", "W_down"))
        ]
        begins_well(block, self.WEIGHTS, x, seed, 6, names)

    @pytest.mark.weight(0.2)
    def test_batch(self, student):
        """Each text of a batch is on its own; one text and one word are fine."""
        block = self.block(student)
        free = self.looks_like_block(block)
        hint = "Does one text's result depend on the others in the batch, or is an axis of length one dropped?"
        for b in range(2):
            expect.close(self.run(block, self.X[b : b + 1])[0], free[b], hint, f"the output of text {b} alone", ATOL)
        expect.close(self.run(block, self.X[:, :1]), free[:, :1], hint, "the output of the first word alone", ATOL)
        hint, before = "What does the block keep from one call to the next?", [tensor(-self.X.astype(np.float32))]
        expect.close(self.run(block, after=before), free, hint, "after another text, the output", ATOL)

    @pytest.mark.weight(0.3)
    def test_gradients(self, student):
        """Gradients reach x and every parameter."""
        block = self.block(student)
        self.looks_like_block(block)
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way, or a layer that is not used?"
        gradients_reach(block, self.WEIGHTS, [self.X], normal(1451, 2, 5, 24), hint)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """A float32 block gives float32, a float64 block float64."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        for dtype in (np.float32, np.float64):
            expect.dtype(self.run(block, dtype=dtype), dtype, "Which dtype has what you make yourself?", "the output")

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        block = self.block(student)
        self.looks_like_block(block)
        x = normal(1461, 2, 24, 5).astype(np.float32).swapaxes(-1, -2)
        plain = self.run(block, np.ascontiguousarray(x))
        options = {"window": None, "d_ff": 20, "num_kv_heads": 2, "num_heads": 6, "d_model": 24}
        parameters = block.named(self.WEIGHTS, np.float32)
        by_name = student.ModernDecoderBlock.run((), parameters, options=options, training=False, x=tensor(x))
        expect.close(expect.tensor(by_name.value), plain, "Is memory read in the order of the axes?", "output", ATOL)
        expect.unchanged(block.run(self.WEIGHTS, x).after, [tensor(x)], ["x"], "Look for operators like += on x.")
