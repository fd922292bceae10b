"""Hidden suite of a5: positions, layer norm, feed-forward, the decoder block and the whole decoder.

Sizes differ: B=2, L=5 or 6, d_model=12, h=3, d_ff=48, a vocabulary of 11. Modules get their weights from here, by name,
so that no seed decides; where names differ, or a norm or a bias is missing, `test_parameters` says so, and the others
do with what there is. A branch of a block is judged alone by silencing the other: a last layer of zeros adds nothing. A
test's weight is its points: they add up to those of the cell.
"""

import contextlib
import math

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.modules import (
    Module,
    expect_parameters,
    gradients_reach,
    keeps_nothing,
    same_each_time,
    with_any_weights,
)
from autograder.attention.hidden.properties import keeps_digits, responds, same_in_batches, same_item_by_item
from autograder.suites import expect
from autograder.suites.student import Raised

ATOL = 1e-4  # honest float32 work is within 1e-5 of the float64 reference, the mildest known mistake 0.01 away
LOUD = 1e5  # put into what must not be seen
BY_NAME = "The names of the arguments are those in the first line you were given."


def loosely(got):
    """`got` as numbers, also of a tensor or of a list of rows."""
    if isinstance(got, list):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            got = np.array(got, dtype=float)
    return got.detach().numpy() if hasattr(got, "detach") else expect.array(got)


@pytest.mark.exercise("positional_encoding")
class TestPositionalEncoding:
    # Float64 or float32: nothing that comes in says which, and the contract names none, so it is not judged.
    def encode(self, student, length, d_model):
        """The encoding, finite and in the right shape; that it is an array is judged by one test alone."""
        got = loosely(student.positional_encoding(length, d_model))
        expect.shape(got, (length, d_model), "One row a position, as wide as the model.")
        expect.finite(got)
        return got

    def looks_like_encoding(self, student):
        """From -1 to 1, positions differ from each other, and the width has a say."""
        ask = lambda *args: self.encode(student, *args)[:, :8]  # noqa: E731
        responds(ask, [6, 12], [None, 8], ["length", "d_model"])
        got = ask(6, 12)
        if np.abs(got).max() > 1 + ATOL:
            expect.fail("there is a number below -1 or above 1.", "What values do sines and cosines have?")
        if any(np.allclose(got[i], got[j], atol=1e-6) for i in range(6) for j in range(i)):
            expect.fail("two positions have the same row.", "What should differ between them?")

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Seven positions and d_model = 12 give an array of shape (7, 12)."""
        expect.shape(expect.array(student.positional_encoding(7, 12)), (7, 12))

    @pytest.mark.weight(1.8)
    def test_values(self, student, reference):
        """Sines in the even columns, cosines in the odd ones, and each pair at the angle of the formula."""
        hint = "Do position 1 by hand for d_model = 4, column by column: which angle, and a sine or a cosine?"
        for length, d_model in ((7, 12), (300, 6), (3, 4)):
            got = self.encode(student, length, d_model)
            expect.close(got, reference.positional_encoding(length, d_model), hint, atol=ATOL)

    @pytest.mark.weight(0.35)
    def test_odd_width(self, student):
        """An odd d_model works: all columns are filled, and the first wave is the same as ever."""
        self.looks_like_encoding(student)
        hint = "With d_model = 7, how many sines are there, and how many cosines?"
        for d_model in (7, 3):
            got = self.encode(student, 5, d_model)
            expect.close(got[:, 0], self.encode(student, 5, 8)[:, 0], hint, "column 0", ATOL)
            # Twice as wide, every other wave is the same: 2i / d is 4i / 2d. So it is for the sines of any base.
            twice = self.encode(student, 5, 2 * d_model)[:, ::4]
            expect.close(got[:, ::2], twice, "By which width is the exponent divided?", "the even columns", ATOL)
            if any(np.ptp(column) == 0 for column in got.T):
                expect.fail("a column is the same for all positions.", hint)

    @pytest.mark.weight(0.35)
    def test_shorter(self, student):
        """A shorter text, even of one position, has the first rows of a longer one."""
        self.looks_like_encoding(student)
        whole = self.encode(student, 9, 10)
        for length in (4, 1):
            hint = "Does a position's row depend on how many come after it?"
            expect.close(self.encode(student, length, 10), whole[:length], hint, atol=ATOL)

    @pytest.mark.weight(0.25)
    def test_call(self, student):
        """The arguments may be given by name."""
        self.looks_like_encoding(student)
        by_name = loosely(student.positional_encoding(d_model=10, length=5))
        expect.close(by_name, self.encode(student, 5, 10), BY_NAME)


@pytest.mark.exercise("layer_norm")
class TestLayerNorm:
    NAMES = ("x", "gamma", "beta", "eps")
    X = 1.5 * normal(301, 5, 12) + 0.7  # five words; neither their mean is 0 nor their variance 1
    GAMMA, BETA = 1 + 0.4 * normal(302, 12), 0.5 * normal(303, 12)

    def norm(self, student, x, gamma=GAMMA, beta=BETA, *eps):
        """The result, in the shape of x."""
        got = expect.array(student.layer_norm(x, gamma, beta, *eps))
        expect.shape(got, x.shape)
        return got

    def looks_like_norm(self, student):
        """Other words, gamma and beta give another result. The words that this code takes: five, or one alone."""
        x = self.X
        try:
            self.norm(student, x)
        except Raised:  # it costs the tests of values
            x = self.X[2]
        others = [normal(304, *x.shape), 2 - self.GAMMA]
        responds(lambda *args: self.norm(student, *args), [x, self.GAMMA, self.BETA], others, self.NAMES)
        return x

    @pytest.mark.weight(0.13)
    def test_shape(self, student):
        """The result has the shape of x."""
        expect.shape(expect.array(student.layer_norm(self.X, self.GAMMA, self.BETA)), (5, 12))

    @pytest.mark.weight(0.45)
    def test_one_word(self, student, reference):
        """One word alone, a single vector: its mean goes, its size goes, then gamma and beta."""
        hint = "Take the example by hand: what is the mean, what the variance, what is divided by what?"
        x = 10 * self.X[2]  # so large that the default of eps, which has a test of its own, does not show
        expect.close(self.norm(student, x), reference.layer_norm(x, self.GAMMA, self.BETA), hint, atol=ATOL)

    @pytest.mark.weight(1.05)
    def test_values(self, student, reference):
        """Several words: each is brought to mean 0 and variance 1 over its own features."""
        hint = "Print the mean and the variance that you use. How many of each are there for five words?"
        for seed in (305, 309):
            x, gamma, beta = 12 * normal(seed, 5, 12) - 3, normal(seed + 1, 12), normal(seed + 2, 12)
            expect.close(self.norm(student, x, gamma, beta), reference.layer_norm(x, gamma, beta), hint, atol=ATOL)

    @pytest.mark.weight(0.4)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each word is normalised on its own, whatever stands beside it."""
        self.looks_like_norm(student)
        hint = "Over which axis is the mean? Count it from the end."
        call = lambda x: self.norm(student, x)  # noqa: E731
        same_in_batches(call, [[normal(311, 2, 5, 12)], [normal(312, 2, 3, 4, 12)]], hint)
        # As many words as features: gamma and beta would go with the words as well.
        same_item_by_item(call, [normal(314, 12, 12)], 1, hint)

    @pytest.mark.weight(0.25)
    def test_gamma_and_beta(self, student):
        """First gamma scales, feature by feature, then beta shifts."""
        x = self.looks_like_norm(student)
        plain = self.norm(student, x, np.ones(12), np.zeros(12))
        scaled = self.norm(student, x, self.GAMMA, np.zeros(12))
        hint = "Which of the two is multiplied, which is added, and in which order?"
        expect.close(scaled, self.GAMMA * plain, hint, "with beta = 0, the result", ATOL)
        expect.close(self.norm(student, x), scaled + self.BETA, hint, "with beta, the result", ATOL)

    @pytest.mark.weight(0.2)
    def test_eps(self, student):
        """eps is added to the variance, under the root, and the caller may choose it."""
        x = self.looks_like_norm(student)
        # What comes out for a word with variance v has the size c / sqrt(v + eps): 1 / size ** 2 grows evenly with eps.
        plain = (np.ones(12), np.zeros(12))
        sizes = [np.linalg.norm(self.norm(student, x, *plain, eps), axis=-1) for eps in (0.0, 2.0, 6.0)]
        expect.differs(sizes[1], sizes[0], "Where does eps come in?", "with another eps, the size of the result")
        with np.errstate(all="ignore"):
            one, three = (1 / sizes[i] ** 2 - 1 / sizes[0] ** 2 for i in (1, 2))
        if not np.allclose(three, 3 * one, rtol=1e-3):
            expect.fail(
                "eps does not have the share that it should.", "Do you add eps to the variance, or to its root?"
            )
        # What x was divided by, squared, grows by eps itself. (Its mean is 0.)
        x = x - x.mean(axis=-1, keepdims=True)
        with np.errstate(all="ignore"):
            none, two = ((x / self.norm(student, x, *plain, eps)) ** 2 for eps in (0.0, 2.0))
        if not np.allclose(two - none, 2.0, rtol=1e-3):
            hint = "Do you add eps to the mean of the squares, or to their sum?"
            expect.fail("eps does not have the share that it should.", hint)

    @pytest.mark.weight(0.1)
    def test_default_eps(self, student):
        """Without eps, it is 1e-5."""
        x = 0.003 * self.looks_like_norm(student)  # a variance around 1e-5
        hint = "Which eps does the first line of the stub give, when the caller gives none?"
        expect.close(self.norm(student, x), self.norm(student, x, self.GAMMA, self.BETA, 1e-5), hint, atol=ATOL)

    @pytest.mark.weight(0.15)
    def test_equal_features(self, student):
        """A word whose features are all equal gives finite numbers, and disturbs no other word."""
        self.looks_like_norm(student)
        x = self.X.copy()
        x[1] = 3.0
        got = self.norm(student, x)
        hint = "What is the variance of that word, and what do you divide by?"
        expect.finite(got, hint)
        others = [0, 2, 3, 4]
        expect.close(got[others], self.norm(student, self.X[others]), hint, "the result for the other words", ATOL)
        unshifted = self.norm(student, x, self.GAMMA, np.zeros(12))
        expect.close(got[1], unshifted[1] + self.BETA, "Is that word shifted like the others?", "its result", ATOL)

    @pytest.mark.weight(0.12)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        x = self.looks_like_norm(student)
        for dtype in (np.float32, np.float64):
            got = self.norm(student, *(a.astype(dtype) for a in (x, self.GAMMA, self.BETA)))
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        x = normal(313, 12, 5).T if self.looks_like_norm(student).ndim > 1 else normal(313, 24)[::2]
        plain = self.norm(student, np.ascontiguousarray(x), self.GAMMA, self.BETA, 1e-5)
        by_name = student.layer_norm(beta=self.BETA, eps=1e-5, gamma=self.GAMMA, x=x)
        expect.close(by_name, plain, BY_NAME, atol=ATOL)
        given = [x, self.GAMMA, self.BETA]
        hint = "Look for operators like -= or /= on an argument."
        expect.unchanged(student.layer_norm.inputs_after(*given), given, self.NAMES, hint)


@pytest.mark.exercise("feed_forward")
class TestFeedForward:
    NAMES = ("x", "W_1", "b_1", "W_2", "b_2")
    ARGS = (normal(321, 5, 7), normal(322, 7, 10) / 2, normal(323, 10), normal(324, 10, 7) / 3, normal(325, 7))

    def forward(self, student, *args):
        """The result, in the shape of x."""
        got = expect.array(student.feed_forward(*args))
        expect.shape(got, args[0].shape)
        return got

    def looks_like_layers(self, student):
        """Words and the second matrix have a say."""
        others = [normal(326, 5, 7), None, None, self.ARGS[3][::-1].copy()]
        responds(lambda *args: self.forward(student, *args), self.ARGS, others, self.NAMES)

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """Five words of width 7 give five words of width 7."""
        expect.shape(expect.array(student.feed_forward(*self.ARGS)), (5, 7), "Where does the width come back?")

    @pytest.mark.weight(1.2)
    def test_values(self, student, reference):
        """The first layer, what is below zero set to zero, the second layer."""
        hint = "Take the example by hand: which numbers are set to zero, and when is each b added?"
        for seed, size in ((331, 0.5), (341, 100.0)):  # beyond 6, where some cut off what is large
            args = [normal(seed + i, *arg.shape) * (size if i == 0 else 0.5) for i, arg in enumerate(self.ARGS)]
            expect.close(self.forward(student, *args), reference.feed_forward(*args), hint, atol=ATOL)
        square = [normal(351 + i, *shape) for i, shape in enumerate([(5, 7), (7, 7), (7,), (7, 7), (7,)])]
        hint = "d_ff is as large as d_model here. Which axes of W_1 and W_2 are which?"
        expect.close(self.forward(student, *square), reference.feed_forward(*square), hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_biases(self, student):
        """b_1 enters before the second layer, b_2 is added at the very end."""
        self.looks_like_layers(student)
        x, W_1, b_1, W_2, b_2 = self.ARGS
        before = self.forward(student, *self.ARGS)
        hint = "What is the last thing that the formula does?"
        after = self.forward(student, x, W_1, b_1, W_2, b_2 + normal(327, 7))
        expect.close(after, before + normal(327, 7), hint, "with another b_2, the result", ATOL)
        after = self.forward(student, x, W_1, b_1 + 1, W_2, b_2)
        expect.differs(after, before, "Where is b_1 used?", "with another b_1, the result")

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each word goes through on its own, also a single vector."""
        self.looks_like_layers(student)
        call = lambda x: self.forward(student, x, *self.ARGS[1:])  # noqa: E731
        batches = [[self.ARGS[0]], [normal(328, 2, 3, 5, 7)]]
        same_in_batches(call, batches, "Is there an axis that your code counts on?")

    @pytest.mark.weight(0.1)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_layers(student)
        for dtype in (np.float32, np.float64):
            got = self.forward(student, *(a.astype(dtype) for a in self.ARGS))
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_layers(student)
        views = [a.T.copy().T for a in self.ARGS]
        by_name = student.feed_forward(**dict(reversed(list(zip(self.NAMES, views, strict=True)))))
        expect.close(by_name, self.forward(student, *self.ARGS), BY_NAME, atol=ATOL)
        after = student.feed_forward.inputs_after(*views)
        expect.unchanged(after, views, self.NAMES, "Look for operators like += or *= on an argument.")


# ---------------------------------------------------------------- modules


def block_weights(seed, d_model=12, num_heads=3, d_ff=48, prefix=""):
    """Weights of a block by name, such that scores are around 2 and both branches add numbers around 1."""
    attention, wide = 1.4 / math.sqrt(d_model), 1 / math.sqrt(d_ff)
    found = {f"norm_{i}.weight": 1 + 0.4 * normal(seed + i, d_model) for i in (1, 2)}
    found |= {f"norm_{i}.bias": 0.4 * normal(seed + 2 + i, d_model) for i in (1, 2)}
    found |= {
        f"attention.W_{k}.weight": attention * normal(seed + 5 + i, d_model, d_model) for i, k in enumerate("QKVO")
    }
    found["feed_forward.0.weight"] = attention * normal(seed + 9, d_ff, d_model)
    found["feed_forward.0.bias"] = 0.5 * normal(seed + 10, d_ff)
    found["feed_forward.2.weight"] = 1.4 * wide * normal(seed + 11, d_model, d_ff)
    found["feed_forward.2.bias"] = 0.5 * normal(seed + 12, d_model)
    return {prefix + name: value for name, value in found.items()}


def decoder_weights(seed, vocab_size=11, d_model=12, num_heads=3, d_ff=48, num_layers=2):
    """Weights of a whole decoder by name; embeddings are of the size of the positions once they are scaled."""
    found = {"embedding.weight": normal(seed, vocab_size, d_model) / math.sqrt(d_model)}
    for layer in range(num_layers):
        found |= block_weights(seed + 20 * (layer + 1), d_model, num_heads, d_ff, f"blocks.{layer}.")
    found |= {"norm.weight": 1 + 0.4 * normal(seed + 1, d_model), "norm.bias": 0.4 * normal(seed + 2, d_model)}
    found["output.weight"] = normal(seed + 3, vocab_size, d_model) / math.sqrt(d_model)
    return found | {"output.bias": 0.5 * normal(seed + 4, vocab_size)}


def silent(weights, *names):
    """`weights` with zeros where a name ends in one of `names`."""
    return {name: value * (not name.endswith(names)) for name, value in weights.items()}


ATTENTION_SILENT = ("attention.W_O.weight",)
FEED_FORWARD_SILENT = ("feed_forward.2.weight", "feed_forward.2.bias")


# Padding at the beginning and in the middle, where the causal mask does not hide it anyway.
PADDING = np.array([[0, 1, 1, 1, 1], [0, 0, 1, 0, 1]], dtype=bool)[:, np.newaxis]  # (2, 1, 5)


KEPT = "What does your module keep of a call?"


@pytest.mark.exercise("DecoderBlock")
class TestDecoderBlock:
    X = 1.3 * normal(401, 2, 5, 12) + 0.6  # two texts of five words; neither normalised
    WEIGHTS = block_weights(410)
    # A seed, sizes, layers of zeros, and the question
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
        """Words hear from each other: another word 2 gives another output of some other word."""
        x = self.X.copy()
        x[:, 2] = normal(430, 2, 12)
        first, other = self.run(block), self.run(block, x)
        rest = [0, 1, 3, 4]
        expect.differs(
            other[:, rest], first[:, rest], "Is the attention used?", "when word 2 changes, the others' output"
        )
        return first

    def compare(self, student, reference, seed, sizes, names, hint):
        """The output with zeros in the layers `names` is the reference's."""
        weights = silent(block_weights(seed, *sizes), *names)
        x = 1.3 * normal(seed + 15, 2, 5, sizes[0]) + 0.6
        wanted = Module(reference.DecoderBlock, *sizes).value(weights, x, dtype=np.float64)
        expect.close(self.run(self.block(student, *sizes), x, weights), wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """A batch of two texts of five words comes out in the shape it went in: (2, 5, 12)."""
        got = with_any_weights(self.block(student), self.WEIGHTS, self.X.astype(np.float32))
        expect.shape(expect.tensor(got, "How many things does forward give back?"), (2, 5, 12))

    @pytest.mark.weight(0.47)
    def test_parameters(self, student):
        """The parameters are those of two norms, the attention and two linear layers, and no others."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        block.expect_names(self.WEIGHTS)
        hint = "Go through the members one by one: which layer is missing, doubled, or has another width?"
        for sizes in ((12, 3, 48), (8, 2, 30)):
            expect_parameters(student.DecoderBlock.build(*sizes), block_weights(0, *sizes), hint)

    @pytest.mark.weight(1.1)
    def test_attention_branch(self, student, reference):
        """With a feed-forward network of zeros, the block adds to x the causal attention of the normalised x."""
        self.compare(student, reference, *self.ATTENTION_ALONE)

    @pytest.mark.weight(1.1)
    def test_feed_forward_branch(self, student, reference):
        """With an attention of zeros, the block adds to x the feed-forward network of the normalised x."""
        self.compare(student, reference, *self.FEED_FORWARD_ALONE)

    @pytest.mark.weight(0.7)
    def test_values(self, student, reference):
        """Both branches: first attention, and the feed-forward network works on what it gave."""
        # If a branch alone is wrong, that is told, and nothing is asked about both.
        self.compare(student, reference, *self.ATTENTION_ALONE)
        self.compare(student, reference, *self.FEED_FORWARD_ALONE)
        hint = "Each branch alone is right. What does the second one start from?"
        self.compare(student, reference, 520, (12, 3, 48), (), hint)

    @pytest.mark.weight(0.45)
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
        # Word 0 is changed, and its own residual cannot carry that to word 3.
        x = self.X.copy()
        x[:, 0] = -x[:, 0]
        got = self.run(block, x)
        expect.differs(
            got[:, 3], free[:, 3], "May a word see all earlier ones?", "when word 0 changes, word 3's output"
        )

    @pytest.mark.weight(0.6)
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

    @pytest.mark.weight(0.25)
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

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """A float32 block gives float32, a float64 block float64, also with padding."""
        block = self.block(student)
        same_each_time(self.looks_like_block(block), self.run(block))
        for dtype in (np.float32, np.float64):
            got = self.run(block, dtype=dtype, padding=PADDING)
            expect.dtype(got, dtype, "Which dtype has what you make yourself?", "the output")

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword or by position and with any layout in memory, and are not changed."""
        block = self.block(student)
        self.looks_like_block(block)
        x = normal(561, 2, 12, 5).astype(np.float32).swapaxes(-1, -2)
        plain = self.run(block, np.ascontiguousarray(x), padding=PADDING)
        options = {"d_ff": 48, "num_heads": 3, "d_model": 12}
        parameters = block.named(self.WEIGHTS, np.float32)
        by_name = student.DecoderBlock.run((), parameters, options=options, x=tensor(x), padding=tensor(PADDING))
        expect.close(expect.tensor(by_name.value), plain, "Is memory read in the order of the axes?", "output", ATOL)
        by_place = block.run(self.WEIGHTS, x, PADDING)
        expect.close(expect.tensor(by_place.value), plain, BY_NAME, "output", ATOL)
        hint = "Look for operators like += or &= on an argument."
        expect.unchanged(by_place.after, [tensor(x), tensor(PADDING)], ["x", "padding"], hint)


@pytest.mark.exercise("TransformerDecoder")
class TestTransformerDecoder:
    SIZES = (11, 12, 3, 48, 2, 9)  # vocab_size, d_model, num_heads, d_ff, num_layers, max_length
    IDS = np.array([[3, 7, 0, 10, 7, 2], [5, 1, 9, 4, 0, 8]])  # (2, 6)
    WEIGHTS = decoder_weights(610)
    PADDING = np.array([[0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1]], dtype=bool)[:, np.newaxis]  # (2, 1, 6)

    def decoder(self, student, *sizes):
        return Module(student.TransformerDecoder, *(sizes or self.SIZES))

    def logits(self, decoder, ids=IDS, weights=WEIGHTS, dtype=np.float32, padding=None):
        """The logits, one row a place and one column a word of the vocabulary."""
        got = self.answer(decoder, ids, weights, dtype, padding)
        hint = "One row of logits for each place, also for those before the last."
        expect.shape(got, (*ids.shape, weights["output.bias"].size), hint, "the output")
        return got

    def answer(self, decoder, ids=IDS, weights=WEIGHTS, dtype=None, padding=None):
        """The logits with an axis of places, also of a model that gives them for the last place alone.

        Without a `dtype`, a model that cannot work in float32 is asked in float64: values and dtype have other tests.
        """
        more = () if padding is None else (padding,)
        given = np.ascontiguousarray(ids)
        try:
            got = decoder.value(weights, given, *more, dtype=dtype or np.float32)
        except Raised:
            if dtype is not None:
                raise
            got = decoder.value(weights, given, *more, dtype=np.float64)
        if got.ndim == 2 and len(got) == len(ids):
            got = got[:, np.newaxis]
        if got.ndim != 3:
            expect.shape(got, (*ids.shape, weights["output.bias"].size), what="the output")
        return got

    def looks_like_decoder(self, decoder, dtype=None):
        """Places hear from each other: another token 2 gives other logits somewhere else."""
        ids = self.IDS.copy()
        ids[:, 2] = (ids[:, 2] + 1) % 11
        first, other = (self.answer(decoder, given, dtype=dtype) for given in (self.IDS, ids))
        rest = [place for place in range(first.shape[1]) if place != 2]
        what = "when token 2 changes, the output at the other places"
        expect.differs(other[:, rest], first[:, rest], "Are the blocks used?", what)
        return first

    def last(self, decoder, ids):
        """The last place's logits, also of a model that gives no others."""
        got = decoder.value(self.WEIGHTS, ids, dtype=np.float64)
        return got[:, -1] if got.ndim == 3 else got

    def compare(self, student, reference, seed, sizes, names, hint):
        """The logits with zeros in the layers `names` are the reference's."""
        weights = silent(decoder_weights(seed, *sizes[:5]), *names)
        ids = np.random.default_rng(seed).integers(0, sizes[0], size=(2, 6))
        wanted = Module(reference.TransformerDecoder, *sizes).value(weights, ids, dtype=np.float64)
        got = self.logits(self.decoder(student, *sizes), ids, weights)
        expect.close(got, wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.25)
    def test_shape(self, student):
        """Two texts of six tokens and a vocabulary of eleven give logits of shape (2, 6, 11)."""
        got = with_any_weights(self.decoder(student), self.WEIGHTS, self.IDS)
        expect.shape(expect.tensor(got), (2, 6, 11), "One row of logits for each place, also before the last.")

    @pytest.mark.weight(0.45)
    def test_parameters(self, student):
        """Each block has weights of its own, positions are not learnt: all parameters are counted."""
        decoder = self.decoder(student)
        other = np.where(np.arange(6) == 2, (self.IDS + 1) % 11, self.IDS)
        responds(lambda ids: self.last(decoder, ids), [self.IDS], [other], ["token 2, at the last place"])
        decoder.expect_names(self.WEIGHTS)
        hint = "Count by hand, part by part, as in the table: which part has more or fewer than you expect?"
        for sizes in (self.SIZES, (13, 8, 2, 30, 3, 20)):
            expect_parameters(student.TransformerDecoder.build(*sizes), decoder_weights(0, *sizes[:5]), hint)

    @pytest.mark.weight(1.25)
    def test_before_and_after_the_blocks(self, student, reference):
        """With silent blocks: the scaled embedding plus the position, then the last norm and the output layer."""
        hint = "Follow token 3 at place 2: which row, times what, plus which row? And what happens after the blocks?"
        names = (*ATTENTION_SILENT, *FEED_FORWARD_SILENT)
        self.compare(student, reference, 700, (13, 8, 2, 30, 1, 7), names, hint)

    @pytest.mark.weight(1.25)
    def test_values(self, student, reference):
        """The logits of the whole stack, here of three blocks."""
        hint = "With silent blocks another test judges the rest. Does each block get what the one before gave?"
        self.compare(student, reference, 800, (13, 12, 3, 48, 3, 7), (), hint)

    @pytest.mark.weight(0.29)
    def test_logits(self, student):
        """Logits as they are: what is added to the output layer's bias is added to them."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        weights = dict(self.WEIGHTS)
        weights["output.bias"] = weights["output.bias"] + 3 * normal(621, 11)
        hint = "What happens to the numbers after the output layer, and who will do that later?"
        expect.close(self.answer(decoder, weights=weights), first + 3 * normal(621, 11), hint, "the output", ATOL)

    @pytest.mark.weight(0.5)
    def test_causal(self, student):
        """Through the whole stack, no place hears from a later token; each hears from itself and from earlier ones."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        for place in (2, 5):
            ids = self.IDS.copy()
            ids[:, place] = (ids[:, place] + 3) % 11
            got = self.answer(decoder, ids)
            expect.shape(got, (2, 6, 11), "One row of logits for each place, also for those before the last.")
            hint = f"Token {place} was changed. Through which block could that reach an earlier place?"
            expect.close(got[:, :place], first[:, :place], hint, "the logits of the places before", ATOL)
            hint = "Does the text reach the logits through every block?"
            expect.differs(got[:, 5], first[:, 5], hint, f"when token {place} changes, the last place's output")

    @pytest.mark.weight(0.4)
    def test_padding(self, student):
        """What stands on padding moves no logits of a real token, through no block."""
        decoder = self.decoder(student)
        free = self.looks_like_decoder(decoder)
        got = self.answer(decoder, padding=self.PADDING)
        hint = "Which of the blocks are told about the padding?"
        expect.finite(got, hint, "the output")
        expect.differs(got, free, hint, "with padding, the output")
        real = np.broadcast_to(self.PADDING[:, 0, -got.shape[1] :, np.newaxis], got.shape)
        other = self.answer(decoder, np.where(self.PADDING[:, 0], self.IDS, (self.IDS + 4) % 11), padding=self.PADDING)
        what = "when tokens on padding change, the logits of real tokens"
        expect.close(np.where(real, other, 0), np.where(real, got, 0), hint, what, ATOL)

    @pytest.mark.weight(0.3)
    def test_padding_values(self, student, reference):
        """With padding, real tokens get the logits that they should."""
        hint = "padding hides keys in the attention of every block. Does it change anything else?"
        weights, ids = decoder_weights(1000), self.IDS
        module = Module(reference.TransformerDecoder, *self.SIZES)
        wanted = module.value(weights, ids, self.PADDING, dtype=np.float64)
        got = self.logits(self.decoder(student), ids, weights, padding=self.PADDING)
        real = self.PADDING[:, 0]
        expect.close(got[real], wanted[real], hint, "the logits of real tokens", ATOL)

    @pytest.mark.weight(0.3)
    def test_lengths(self, student):
        """Any length up to max_length, even one token: a text's beginning has the logits it has in the whole."""
        self.looks_like_decoder(self.decoder(student))
        sizes = (5, 6, 3, 7, 2, 9)  # max_length is the largest, so that no other size can stand in for it
        decoder, weights = self.decoder(student, *sizes), decoder_weights(640, *sizes[:5])
        ids = np.random.default_rng(641).integers(0, 5, size=(2, 9))  # the longest there may be
        whole = self.answer(decoder, ids, weights)
        expect.shape(whole, (2, 9, 5), "How many positions does the model know?", "the output")
        hint = "Which rows of the positional encoding does a shorter text get?"
        for length in (4, 1):
            got = self.answer(decoder, ids[:, :length], weights)
            expect.close(got, whole[:, :length], hint, f"the logits of the first {length} tokens", ATOL)

    @pytest.mark.weight(0.2)
    def test_batch(self, student):
        """Each text of a batch is on its own, and so is each call."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        hint = "Along which axis do positions run?"
        got = self.answer(decoder, self.IDS[1:])
        expect.close(got[0], first[1], hint, "the output of the second text alone", ATOL)
        keeps_nothing(decoder, self.WEIGHTS, self.IDS, self.PADDING, KEPT)

    @pytest.mark.weight(0.35)
    def test_gradients(self, student):
        """Gradients reach every parameter, from the output layer to the embedding."""
        decoder = self.decoder(student)
        self.looks_like_decoder(decoder, np.float64)
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way, or a layer that is not used?"
        gradients_reach(decoder, self.WEIGHTS, [self.IDS], normal(631, 2, 6, 11), hint)

    @pytest.mark.weight(0.21)
    def test_dtype(self, student):
        """A float32 model gives float32 logits, a float64 model float64."""
        decoder = self.decoder(student)
        same_each_time(self.looks_like_decoder(decoder), self.answer(decoder))
        for dtype in (np.float32, np.float64):
            hint = "Which dtype has what you make yourself: the scale, the positions?"
            expect.dtype(self.answer(decoder, dtype=dtype), dtype, hint, "the output")

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword or by position and with any layout in memory, and are not changed."""
        decoder = self.decoder(student)
        self.looks_like_decoder(decoder)
        names = ("max_length", "num_layers", "d_ff", "num_heads", "d_model", "vocab_size")
        options = dict(zip(names, reversed(self.SIZES), strict=True))
        plain = self.answer(decoder, padding=self.PADDING)
        dtype = plain.dtype  # float32, where the model works in it
        parameters = decoder.named(self.WEIGHTS, dtype)
        turned, padding = tensor(np.ascontiguousarray(self.IDS.T)).T, tensor(self.PADDING)
        module = student.TransformerDecoder
        by_name = module.run((), parameters, options=options, padding=padding, token_ids=turned)
        hint = "Is memory read in the order of the axes?"
        expect.close(expect.tensor(by_name.value).reshape(plain.shape), plain, hint, "output", ATOL)
        by_place = decoder.run(self.WEIGHTS, self.IDS, self.PADDING, dtype=dtype)
        expect.close(expect.tensor(by_place.value).reshape(plain.shape), plain, BY_NAME, "output", ATOL)
        hint = "Look for operators like += or functions that end in an underscore on an argument."
        expect.unchanged(by_place.after, [tensor(self.IDS), padding], ["token_ids", "padding"], hint)
