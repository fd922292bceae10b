"""Hidden suite of a4: sizes, W_O, multi-head attention, and the module. Sizes differ: B=2, h=3, d_k=4, L=5, d_model=12.

Ordinary input has h * d_k = h * d_v = d_model, so that a slip about other widths costs the tests on widths alone.
Output and weights are told apart by their axes, so that their order costs `test_shape` alone, and a module's layers are
found under other names, so that names cost `test_parameters` alone. A test's weight is its points: they add up to those
of the cell.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.naming import expect_names, own_names
from autograder.attention.hidden.properties import gradients_match, keeps_digits, parts, responds, same_item_by_item
from autograder.attention.hidden.worth import worth
from autograder.suites import expect
from autograder.suites.student import Gradients, Raised

ATOL = 1e-4  # honest float32 work is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away
EXACT = 1e-9  # a masked weight is exp(-inf) or exp(-1e9): exactly 0
LARGE = 1e4  # exp(1e4) overflows even float64
LOUD = 3e5  # put into what must not be seen; makes scores of up to half a million
KEYS = ("W_Q", "W_K", "W_V", "W_O")

# Lopsided, and nobody may look at token 2.
MASK = np.array([[1, 0, 0, 1, 0], [1, 1, 0, 0, 1], [0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 1, 1]], dtype=bool)
# The last token of the first item is padding, and the last two of the second.
PADDING = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], dtype=bool)[:, np.newaxis, np.newaxis]  # (2, 1, 1, 5)


@pytest.mark.exercise("projection_shapes")
class TestProjectionShapes:
    def shapes(self, student, *args, **kwargs):
        """The dict."""
        got = student.projection_shapes(*args, **kwargs)
        if not isinstance(got, dict):
            expect.fail(f"gave back {expect.kind_of(got)}, not a dict.")
        return got

    def sizes(self, shapes, *keys):
        """The shapes under `keys` as numbers; whether they are tuples of whole numbers is judged in another test."""
        found = []
        for key in keys:
            if key not in shapes:
                expect.fail(f"the dict has no {key!r}; it has {', '.join(map(str, shapes)) or 'no keys'}.")
            shape = shapes[key].tolist() if isinstance(shapes[key], np.ndarray) else shapes[key]
            if not isinstance(shape, tuple | list) or len(shape) != 2:
                expect.fail(f"the entry {key!r} is {expect.kind_of(shapes[key])}; it should be a tuple of two sizes.")
            if not all(isinstance(n, int | float | np.integer | np.floating) for n in shape):
                expect.fail(f"the entry {key!r} holds something that is no number.")
            found.append([float(n) for n in shape])
        return found

    def compare(self, student, keys, hint, reference):
        """The student's shapes under `keys` are the reference's."""
        for args in ((7, 3, 4, 5), (12, 2, 6, 8), (30, 5, 6, 6), (16, 2, 3, 4)):
            got = self.sizes(self.shapes(student, *args), *keys)
            wanted = self.sizes(reference.projection_shapes(*args), *keys)
            for key, size, right in zip(keys, got, wanted, strict=True):
                if size != right:
                    expect.fail(f"the shape of {key} is not right: ({size[0]:g}, {size[1]:g}).", hint)

    def looks_like_shapes(self, student):
        """The same question gets the same answer, and each shape changes with some argument; the answer."""
        first, again, others = (self.shapes(student, *args) for args in ((7, 3, 4, 5), (7, 3, 4, 5), (30, 6, 8, 9)))
        if self.sizes(first, *KEYS) != self.sizes(again, *KEYS):
            expect.fail("the same arguments give another result each time.")
        for key, one, other in zip(KEYS, self.sizes(first, *KEYS), self.sizes(others, *KEYS), strict=True):
            if one == other:
                expect.fail(f"the shape of {key} is the same whatever the arguments.", "Which sizes does it hang on?")
        return first

    @pytest.mark.weight(0.15)
    def test_shape(self, student):
        """A dict with four entries, each with two sizes."""
        got = self.shapes(student, 7, 3, 4, 5)
        self.sizes(got, *KEYS)
        more = [str(key) for key in got if key not in KEYS]
        if more:
            expect.fail(f"the dict also has {', '.join(more)}.", "It should hold the four matrices and no more.")

    @pytest.mark.weight(0.45)
    def test_model_width(self, student):
        """Each matrix has the width of the model on one side: there it takes a word's vector, or gives one."""
        for d_model, *others in ((7, 3, 4, 5), (11, 2, 6, 8)):
            shapes = self.sizes(self.shapes(student, d_model, *others), *KEYS)
            for key, size in zip(KEYS, shapes, strict=True):
                if d_model not in size:
                    hint = "Where does a word's vector, of width d_model, go in or come out?"
                    expect.fail(f"the shape of {key} is ({size[0]:g}, {size[1]:g}), and d_model is {d_model}.", hint)

    @pytest.mark.weight(0.5)
    def test_queries_and_keys(self, student, reference):
        """W_Q and W_K take a word's vector to the queries and keys of all heads."""
        hint = "X, (L, d_model), is multiplied by it from the right. How many numbers have the queries of all heads?"
        self.compare(student, ("W_Q", "W_K"), hint, reference)

    @pytest.mark.weight(0.55)
    def test_values(self, student, reference):
        """W_V takes a word's vector to the values of all heads."""
        hint = "X, (L, d_model), is multiplied by it from the right. How wide is one head's value, how wide are all?"
        self.compare(student, ("W_V",), hint, reference)

    @pytest.mark.weight(1.05)
    def test_output(self, student, reference):
        """W_O takes the concatenated heads back to a word's vector."""
        hint = "What is concatenated, and how wide is it then? Which width should come out?"
        self.compare(student, ("W_O",), hint, reference)

    @pytest.mark.weight(0.15)
    def test_tuples_of_whole_numbers(self, student):
        """Each shape is a tuple of whole numbers, as `np.zeros` takes it."""
        shapes = self.looks_like_shapes(student)
        for key in KEYS:
            if not isinstance(shapes[key], tuple):
                expect.fail(f"the shape of {key} is {expect.kind_of(shapes[key])}, not a tuple.")
            if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in shapes[key]):
                expect.fail(f"the shape of {key} holds a number that is not whole.", "Is there a / where // belongs?")

    @pytest.mark.weight(0.15)
    def test_keywords(self, student):
        """The arguments may come by keyword, in any order."""
        by_place = self.looks_like_shapes(student)
        by_name = self.shapes(student, d_v=5, d_k=4, num_heads=3, d_model=7)
        if self.sizes(by_name, *KEYS) != self.sizes(by_place, *KEYS):
            expect.fail("gave back something else than with the same arguments by position.")


@pytest.mark.exercise("output_projection")
class TestOutputProjection:
    HEADS, W_O = normal(101, 3, 5, 4), normal(102, 12, 12)  # three heads, five words, values of width four

    def looks_like_projection(self, student):
        """One vector a word, and other heads give other vectors."""
        expect.shape(expect.array(student.output_projection(self.HEADS, self.W_O)), (5, 12))
        responds(student.output_projection, [self.HEADS, self.W_O], [normal(103, 3, 5, 4)])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads of shape (5, 4) and W_O of shape (12, 7) give (5, 7): one vector a word."""
        got = expect.array(student.output_projection(self.HEADS, normal(104, 12, 7)))
        expect.shape(got, (5, 7), "One row a word, as wide as the model.")

    @pytest.mark.weight(2)
    def test_values(self, student, reference):
        """The heads, concatenated word by word, times W_O."""
        hint = "Take one word: which numbers stand side by side, in which order, and what is done with them?"
        for seed in (105, 107):
            heads, W_O = normal(seed, 3, 5, 4), normal(seed + 1, 12, 12)
            wanted = reference.output_projection(heads, W_O)
            expect.close(expect.array(student.output_projection(heads, W_O)), wanted, hint, atol=ATOL)

    @pytest.mark.weight(0.32)
    def test_widths(self, student):
        """d_model need not be h * d_v: a narrow or a wide W_O gives just these columns."""
        self.looks_like_projection(student)
        wide = normal(109, 12, 20)
        hint = "Where does the width of the result come from?"
        square = expect.array(student.output_projection(self.HEADS, wide[:, :12]))
        expect.shape(square, (5, 12), hint)
        expect.close(student.output_projection(self.HEADS, wide[:, :7]), square[:, :7], hint, atol=ATOL)
        got = expect.array(student.output_projection(self.HEADS, wide))
        expect.shape(got, (5, 20), hint)
        expect.close(got[:, :12], square, hint, atol=ATOL)

    @pytest.mark.weight(0.8)
    def test_batch_axes(self, student):
        """Batch axes in front: each item is projected on its own."""
        self.looks_like_projection(student)
        hint = "Count the axes from the end: which one holds the heads when there are batch axes in front?"
        call = lambda heads: student.output_projection(heads, self.W_O)  # noqa: E731
        same_item_by_item(call, [normal(110, 2, 3, 5, 4)], 1, hint)
        same_item_by_item(call, [normal(111, 2, 6, 3, 5, 4)], 2, hint)

    @pytest.mark.weight(0.2)
    def test_one_head_one_word(self, student):
        """One head, or one word: the same numbers as among others, and no axis is lost."""
        self.looks_like_projection(student)
        whole = expect.array(student.output_projection(self.HEADS, self.W_O))
        expect.shape(whole, (5, 12))
        hint = "Is an axis of length one dropped, or a size taken from the wrong axis?"
        for words in (1, 2, 3):  # fewer than heads, and as many
            got = student.output_projection(self.HEADS[:, :words], self.W_O)
            expect.close(got, whole[:words], hint, atol=ATOL)
        # Three heads of width one, of which two say nothing, are one head.
        three, rows = np.concatenate([self.HEADS[:1, :, :1], np.zeros((2, 5, 1))]), self.W_O[:3]
        wanted = expect.array(student.output_projection(three, rows))
        expect.close(student.output_projection(three[:1], rows[:1]), wanted, hint, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_projection(student)
        for dtype in (np.float32, np.float64):
            got = student.output_projection(self.HEADS.astype(dtype), self.W_O.astype(dtype))
            expect.dtype(expect.array(got), dtype, "Is an array made on the way, and of which dtype?")
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.28)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_projection(student)
        heads, W_O = normal(112, 4, 5, 3).T, normal(113, 12, 24)[:, ::2]
        plain = student.output_projection(np.ascontiguousarray(heads), np.ascontiguousarray(W_O))
        hint = "Is memory read in the order of the axes?"
        expect.close(student.output_projection(heads=heads, W_O=W_O), plain, hint, atol=ATOL)
        after = student.output_projection.inputs_after(heads, W_O)
        expect.unchanged(after, [heads, W_O], ["heads", "W_O"], "Look for operators like *= on an argument.")


def weights_for(seed, d_model=12, num_heads=3, d_k=4, d_v=4):
    """W_Q, W_K, W_V, W_O such that scores are around 2 and outputs around 1."""
    size = 1.4 / math.sqrt(d_model)
    W_Q, W_K = size * normal(seed, d_model, num_heads * d_k), size * normal(seed + 1, d_model, num_heads * d_k)
    W_V, W_O = size * normal(seed + 2, d_model, num_heads * d_v), normal(seed + 3, num_heads * d_v, d_model)
    return W_Q, W_K, W_V, W_O / math.sqrt(num_heads * d_v)


def in_order(X, answer):
    """Output and weights: the weights have one axis more than X, so that they are known wherever they stand."""
    one, other = (getattr(part, "ndim", 0) - X.ndim for part in answer)
    return answer[::-1] if (one, other) == (1, 0) else answer


class MultiHeadTests:
    """What the NumPy function and the PyTorch module have in common.

    `attention(student)` gives a function of (X, W_Q, W_K, W_V, W_O, mask=None) to a tuple of arrays.
    """

    DTYPE = np.float64
    BATCH: tuple[int, ...] = ()  # batch axes of ordinary input
    WEIGHTS = weights_for(121)
    OTHERS = weights_for(125)

    @property
    def X(self):
        """Ordinary input."""
        return self.ordinary(129)

    def ordinary(self, seed):
        """Five words of width 12."""
        return normal(seed, *self.BATCH, 5, 12)

    def attention(self, student, d_model=12, num_heads=3, d_head=4) -> Callable:
        raise NotImplementedError

    def attend(self, attention, X, weights, mask=None):
        """Output and weights, in this order, for input of the usual dtype of this exercise."""
        got = attention(X.astype(self.DTYPE), *(w.astype(self.DTYPE) for w in weights), mask=mask)
        return in_order(X, got)

    def in_shape(self, answer, rows=5, width=12, heads=3):
        """Fails where output or weights have another shape than for ordinary input of so many words."""
        output, weights = answer
        expect.shape(output, (*self.BATCH, rows, width), what="the output")
        expect.shape(weights, (*self.BATCH, heads, rows, rows), "Each head has weights of its own.", "the weights")

    def looks_like_attention(self, attention):
        """The same question gets the same answer; other matrices give other weights and another output."""
        first, again = self.attend(attention, self.X, self.WEIGHTS), self.attend(attention, self.X, self.WEIGHTS)
        others = self.attend(attention, self.X, self.OTHERS)
        for name, one, two, other in zip(("output", "weights"), first, again, others, strict=True):
            # Where an array lies in memory may change its last digits; a random number is off by far more.
            if one.shape != two.shape or not np.allclose(one, two, rtol=1e-5, atol=1e-6, equal_nan=True):
                expect.fail(f"the {name}: the same arguments give another result each time.")
            expect.differs(one, other, "Other matrices should give another result.", f"the {name}")
        return first

    @pytest.mark.weight(0.3)
    def test_shape(self, student):
        """Five words of width 12 and three heads: output (..., 5, 12), weights (..., 3, 5, 5), as a tuple."""
        given = [array.astype(self.DTYPE) for array in (self.X, *self.WEIGHTS)]
        answer = self.attention(student)(*given)
        if in_order(self.X, answer) is not answer:
            expect.fail("what has the weights' shape comes first.", "In which order does the docstring name the two?")
        self.in_shape(answer)

    @pytest.mark.weight(0.9)
    def test_weights(self, student, reference):
        """Each head's weights: softmax over the keys of its own scores, scaled by its own width."""
        attention = self.attention(student)
        hint = "Do one head by hand: its columns of W_Q and W_K, its scores, its scale. What does a row sum to?"
        for seed in (141, 151):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            wanted = reference.multi_head_attention(X, *weights, 3)[1]
            expect.close(self.attend(attention, X, weights)[1], wanted, hint, "weights", ATOL)

    @pytest.mark.weight(1.55)
    def test_output(self, student, reference):
        """The output: each head's blend of its own values, concatenated, times W_O."""
        attention = self.attention(student)
        hint = "Do one word by hand: blend each head's values by its weights, lay them side by side. What comes last?"
        for seed in (161, 171):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            wanted = reference.multi_head_attention(X, *weights, 3)[0]
            expect.close(self.attend(attention, X, weights)[0], wanted, hint, "output", ATOL)

    @pytest.mark.weight(0.1)
    def test_one_head_one_word(self, student):
        """One head and one word: no axis is lost, and two equal words get what one alone gets."""
        self.looks_like_attention(self.attention(student))
        attention = self.attention(student, num_heads=1, d_head=12)
        hint = "Is an axis of length one dropped?"
        alone = self.attend(attention, self.X[..., :1, :], self.WEIGHTS)
        together = self.attend(attention, self.X[..., [0, 0], :], self.WEIGHTS)
        for (output, weights), rows in ((alone, 1), (together, 2)):
            expect.shape(weights, (*self.BATCH, 1, rows, rows), hint, "the weights")
            expect.shape(output, (*self.BATCH, rows, 12), hint, "the output")
        hint = "What do two equal words blend?"
        expect.close(together[0], np.repeat(alone[0], 2, axis=-2), hint, "the output", ATOL)
        # A word alone gives itself all its weight in any head, so it does not matter how many there are.
        attention = self.attention(student)
        in_three, _ = self.attend(attention, self.X[..., :1, :], self.WEIGHTS)
        expect.close(alone[0], in_three, "Is one head's result treated as that of several?", "the output", ATOL)
        as_many, _ = self.attend(attention, self.X[..., [0, 0, 0], :], self.WEIGHTS)
        hint = "Which axis holds the heads, and which one the words, if both are as long?"
        expect.close(as_many, np.repeat(in_three, 3, axis=-2), hint, "the output of three equal words", ATOL)

    @pytest.mark.weight(0.25)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each item attends on its own, with the same matrices."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Which axes do you reshape and swap when there are more than two? Count them from the end."
        call = lambda X: self.attend(attention, X, self.WEIGHTS, MASK)  # noqa: E731
        same_item_by_item(call, [normal(180, 2, 5, 12)], 1, hint)
        same_item_by_item(call, [normal(181, 2, 4, 5, 12)], 2, hint)

    @pytest.mark.weight(1.4)
    def test_values_with_a_mask(self, student, reference):
        """With a mask: each head's softmax is over the words that may be seen, and its blend is of these."""
        attention = self.attention(student)
        hint = "Leave out by hand what one word may not see. Does its row sum to 1 over what is left, in each head?"
        for seed, mask in ((216, MASK), (226, MASK[::-1])):
            X, weights = self.ordinary(seed), weights_for(seed + 1)
            wanted = reference.multi_head_attention(X, *weights, 3, mask)
            got = self.attend(attention, X, weights, mask)
            for name, part, right in reversed(list(zip(("output", "weights"), got, wanted, strict=True))):
                expect.close(part, right, hint, name, ATOL)

    def stands_large_scores(self, attention):
        """Are there numbers at all, with no mask? Where there are none, `test_large_scores` has taken its points."""
        W_Q, *rest = self.WEIGHTS
        return all(np.isfinite(part).all() for part in self.attend(attention, self.X, [LARGE * W_Q, *rest]))

    @pytest.mark.weight(0.23)
    def test_mask(self, student):
        """A word that may not be seen has weight 0 in every head and moves no other's output; no mask is kept."""
        attention = self.attention(student)
        free, _ = self.looks_like_attention(attention)
        self.hidden_is_zero(self.attend(attention, self.X, self.WEIGHTS, MASK), MASK)
        seen, _ = self.attend(attention, self.X, self.WEIGHTS, np.ones((5, 5), dtype=bool))
        expect.close(seen, free, "A mask that hides nothing should change nothing.", "the output", ATOL)
        later = self.after_a_mask(attention)
        if later.shape != free.shape or not np.allclose(later, free, atol=ATOL):
            hint = "Does it keep something of a call?"
            expect.fail("called with a mask and then without one, it gives another output than without one.", hint)
        if not self.stands_large_scores(attention):
            return
        # The last feature of word 2 reaches its key and its value, not its query.
        matrices = [self.WEIGHTS[0].copy(), *self.WEIGHTS[1:]]
        matrices[0][-1] = 0
        loud = self.X
        loud[..., 2, -1] = LOUD
        before, after = (self.attend(attention, X, matrices, MASK) for X in (self.X, loud))
        self.in_shape(before)
        self.in_shape(after)
        hint = "Nobody may look at word 2, but a huge number in it comes through. At which step is the mask applied?"
        quiet, others = before[0][..., [0, 1, 3, 4], :], after[0][..., [0, 1, 3, 4], :]
        expect.close(others, quiet, hint, "the output of the other words", ATOL)

    def after_a_mask(self, attention):
        """The output without a mask, right after a call that had one."""
        return self.attend(attention, self.X, self.WEIGHTS)[0]

    def hidden_is_zero(self, answer, mask):
        """No weight where the mask says no."""
        self.in_shape(answer)
        weights = answer[1]
        hint = "The mask is True where a query may attend. Which weights must be 0, in which head?"
        hidden = np.where(np.broadcast_to(mask, weights.shape), 0, weights)
        expect.close(hidden, np.zeros(weights.shape), hint, "the weights", EXACT)

    @pytest.mark.weight(0.42)
    def test_mask_and_large_scores(self, student):
        """What is hidden stays hidden when all scores are large, above or below zero; what is seen is seen."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        if not self.stands_large_scores(attention):
            return
        causal = np.tril(np.ones((5, 5), dtype=bool))
        W_Q, *rest = self.WEIGHTS
        for factor in (LARGE, -LARGE):  # the first word sees itself only, whatever its score
            output, weights = self.attend(attention, self.X, [factor * W_Q, *rest], causal)
            self.hidden_is_zero((output, weights), causal)
            # Over the keys or the queries alike: that is judged elsewhere.
            if not any(np.allclose(weights.sum(axis=axis), 1, atol=0.01) for axis in (-1, -2)):
                hint = "A word that sees only itself, with a score of -10,000: which weight does it get?"
                expect.fail("with a mask, the weights do not sum to 1 when scores are large.", hint)

    @pytest.mark.weight(0.25)
    def test_mask_axes(self, student):
        """One mask for all, one for each item (B, 1, 1, L), or one for each head (h, L, L)."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Scores are (..., h, L, L) and the mask broadcasts to that. Is it used as it comes, or given other axes?"
        pair = normal(131, 2, 5, 12)
        free = self.attend(attention, pair, self.WEIGHTS)
        filled_up = self.attend(attention, pair, self.WEIGHTS, PADDING)
        shared = self.attend(attention, pair, self.WEIGHTS, MASK)
        expect.differs(filled_up[0], free[0], "What is the mask used for?", "with a mask (2, 1, 1, 5), the output")
        for b in range(2):
            own = np.repeat(PADDING[b, 0], 5, axis=0)  # (5, 5)
            alone = self.attend(attention, pair[b].reshape(self.one_item), self.WEIGHTS, own)
            self.same(filled_up, alone, b, hint, f"with a mask (2, 1, 1, 5), item {b}'s")
        alone = self.attend(attention, pair[1].reshape(self.one_item), self.WEIGHTS, MASK)
        self.same(shared, alone, 1, hint, "with a mask (5, 5) for a batch of two, item 1's")
        row, rows = (self.attend(attention, self.X, self.WEIGHTS, MASK[:1].repeat(n, axis=0)) for n in (1, 5))
        expect.close(row[0], rows[0], hint, "with a mask (1, 5), the same for all queries, the output", ATOL)
        each = np.stack([MASK, MASK[::-1], np.tril(np.ones((5, 5), dtype=bool))])
        together = self.attend(attention, self.X, self.WEIGHTS, each)
        self.in_shape(together)
        for i in range(3):
            alone = self.attend(attention, self.X, self.WEIGHTS, each[i])
            self.in_shape(alone)
            one, other = together[1][..., i, :, :], alone[1][..., i, :, :]
            expect.close(one, other, hint, f"with a mask (3, 5, 5), head {i}'s weights", ATOL)

    @property
    def one_item(self):
        """The shape of a single item, with as many batch axes as ordinary input has."""
        return (*(1 for _ in self.BATCH), 5, 12)

    def same(self, together, alone, item, hint, what):
        """Item `item` of a batch of two is what it is alone."""
        for name, whole, single, one in zip(("output", "weights"), together, alone, ((5, 12), (3, 5, 5)), strict=True):
            expect.shape(whole, (2, *one), hint, f"{what} {name} with the batch")
            expect.shape(single, (*self.one_item[:-2], *one), hint, f"{what} {name}")
            expect.close(whole[item], single.reshape(one), hint, f"{what} {name}", ATOL)

    @pytest.mark.weight(0.35)
    def test_nothing_to_attend_to(self, student):
        """A query that may attend to nothing gets weights 0 and output 0; the other queries keep theirs."""
        attention = self.attention(student)
        free = self.looks_like_attention(attention)
        mask = np.ones((5, 5), dtype=bool)
        mask[1] = False
        output, weights = answer = self.attend(attention, self.X, self.WEIGHTS, mask)
        self.in_shape(answer)
        self.in_shape(free)
        hint = "Query 1 may attend to nothing: what does a softmax over nothing divide by?"
        expect.close(weights[..., 1, :], np.zeros((*self.BATCH, 3, 5)), hint, "the weights of query 1", EXACT)
        expect.close(output[..., 1, :], np.zeros((*self.BATCH, 12)), hint, "the output of query 1", EXACT)
        others = [0, 2, 3, 4]
        expect.close(output[..., others, :], free[0][..., others, :], hint, "the output of the other queries", ATOL)

    @pytest.mark.weight(0.35)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers, and the largest takes all the weight."""
        attention = self.attention(student)
        _, ordinary = self.looks_like_attention(attention)
        hint = "What could be subtracted from the scores before exp without changing the weights?"
        W_Q, *rest = self.WEIGHTS
        output, weights = self.attend(attention, self.X, [LARGE * W_Q, *rest])
        expect.finite(weights, hint, "weights")
        expect.finite(output, hint, "output")
        expect.shape(weights, ordinary.shape, what="the weights")
        if weights.ndim < 2:
            expect.fail(f"the weights have shape {weights.shape}: one row a query, one column a key.")
        # Of two weights w1 < w2, ten thousand times the scores leave (w1 / w2) ** 10,000. Gaps between the scores are
        # 0.01 and more, so the largest is left; over the queries or the keys alike, that is judged elsewhere.
        winners = [ordinary == ordinary.max(axis=axis, keepdims=True) for axis in (-1, -2)]
        if not any(np.allclose(weights, winner, atol=0.01) for winner in winners):
            hint = "Are large scores cut off or rounded?"
            expect.fail("weights: the largest score does not take all the weight.", hint)

    @pytest.mark.weight(0.25)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights, with and without a mask."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        hint = "Which dtype has what you make yourself: the scale, the masked scores, an array you fill?"
        for dtype in (np.float32, np.float64):
            for mask in (None, MASK):
                given = [array.astype(dtype) for array in (self.X, *self.WEIGHTS)]
                output, weights = in_order(self.X, attention(*given, mask=mask))
                expect.dtype(output, dtype, hint, "output")
                expect.dtype(weights, dtype, hint, "weights")
                keeps_digits(output, "output")
                keeps_digits(weights, "weights")


def padded(array, shape):
    """`array` with zeros after it, up to `shape`."""
    return np.pad(array, [(0, wanted - size) for size, wanted in zip(array.shape, shape, strict=True)])


@pytest.mark.exercise("multi_head_attention")
class TestMultiHeadAttention(MultiHeadTests):
    def attention(self, student, d_model=12, num_heads=3, d_head=4):
        def attend(X, *weights, mask=None):
            more = [] if mask is None else [mask]
            output, got = expect.pair(student.multi_head_attention(X, *weights, num_heads, *more))
            return expect.array(output), expect.array(got)

        return attend

    @pytest.mark.weight(0.3)
    def test_widths(self, student):
        """d_model need not be h * d_k, nor d_v be d_k, as in the example with X (2, 3) and W_Q (3, 6)."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        # Zeros change nothing: d_model = 7 filled up to 12, and d_v = 2 filled up to 4, are the ordinary case.
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


def given(x, mask=None):
    """What a module is called with."""
    return [tensor(x)] if mask is None else [tensor(x), tensor(np.ascontiguousarray(mask))]


class Layer:
    """A student's module with given matrices, called like a function of x and the four matrices.

    The matrices are written as in NumPy, (in, out); nn.Linear keeps them as (out, in). A bias that should not be
    there is set to 0, and layers are found under other names, since one test judges that already.
    """

    def __init__(self, student, d_model, num_heads, d_head):
        self.module = student.MultiHeadAttention
        width = num_heads * d_head
        self.construct = (d_model, num_heads) if width == d_model else (d_model, num_heads, d_head)
        self.shapes = self.module.build(*self.construct)
        wanted = {f"{key}.weight": (width, d_model) for key in KEYS[:3]} | {"W_O.weight": (d_model, width)}
        own = own_names(wanted, self.shapes)
        self.names = [own.get(name, name) for name in wanted]  # what is missing, the message will name

    def parameters(self, matrices):
        """The student's parameters by name, with these matrices in them."""
        given = {name: tensor(W.T) for name, W in zip(self.names, matrices, strict=True)}
        biases = {name: shape for name, shape in self.shapes.items() if name.endswith("bias")}
        return given | {name: tensor(np.zeros(shape, dtype=matrices[0].dtype)) for name, shape in biases.items()}

    def run(self, x, matrices, mask=None, after=None, **more):
        """Construct, fill, forward: what `Function.run` gives back. `after`: the mask of a call before."""
        before = None if after is None else given(x, after)
        return self.module.run(self.construct, self.parameters(matrices), *given(x, mask), after=before, **more)

    def __call__(self, x, *matrices, mask=None, after=None):
        output, weights = expect.pair(self.run(x, matrices, mask, after).value)
        return expect.tensor(output), expect.tensor(weights)


class Differentiable:
    """A layer in the form that `gradients_match` takes: tensors in, tensors out, gradients of x and the matrices."""

    def __init__(self, layer, mask=None):
        self.layer, self.mask, self.swapped = layer, mask, False

    def __call__(self, x, *matrices):
        answer = self.layer(x.numpy(), *(W.numpy() for W in matrices), mask=self.mask)
        output, weights = in_order(x, answer)
        self.swapped = output is not answer[0]
        expect.shape(output, tuple(x.shape), what="the output")
        expect.shape(weights, (*x.shape[:-2], 3, 5, 5), what="the weights")
        return output, weights

    def gradients(self, x, *matrices, seeds):
        seeds = seeds[::-1] if self.swapped else seeds
        got = self.layer.run(x.numpy(), [W.numpy() for W in matrices], self.mask, seeds=seeds)
        of_matrices = [got.parameters.get(name) for name in self.layer.names]
        turned = [g.T if hasattr(g, "detach") and g.ndim == 2 else g for g in of_matrices]
        value = in_order(x, expect.pair(got.value))
        return Gradients(value, [*(got.inputs or [None])[:1], *turned])


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttentionModule(MultiHeadTests):
    DTYPE = np.float32  # a module's own; float64 is judged by the tests of dtype and gradients
    BATCH = (2,)  # what most people think of first; none and two are judged by the test of batch axes

    def attention(self, student, d_model=12, num_heads=3, d_head=4):
        return Layer(student, d_model, num_heads, d_head)

    def after_a_mask(self, layer):
        x, *matrices = (array.astype(self.DTYPE) for array in (self.X, *self.WEIGHTS))
        return in_order(x, layer(x, *matrices, after=MASK))[0]

    test_shape = worth(0.25, MultiHeadTests.test_shape)
    test_weights = worth(0.55, MultiHeadTests.test_weights)
    test_output = worth(1.1, MultiHeadTests.test_output)
    test_one_head_one_word = worth(0.05, MultiHeadTests.test_one_head_one_word)
    test_batch_axes = worth(0.2, MultiHeadTests.test_batch_axes)
    test_values_with_a_mask = worth(1, MultiHeadTests.test_values_with_a_mask)
    test_mask = worth(0.19, MultiHeadTests.test_mask)
    test_mask_and_large_scores = worth(0.36, MultiHeadTests.test_mask_and_large_scores)
    test_mask_axes = worth(0.15, MultiHeadTests.test_mask_axes)
    test_nothing_to_attend_to = worth(0.3, MultiHeadTests.test_nothing_to_attend_to)
    test_large_scores = worth(0.3, MultiHeadTests.test_large_scores)
    test_dtype = worth(0.25, MultiHeadTests.test_dtype)

    @pytest.mark.weight(0.25)
    def test_parameters(self, student):
        """The layers W_Q, W_K, W_V, W_O have weights of shape (12, 12) for d_model = 12; no bias, nothing else."""
        names = {f"{key}.weight": tensor(W.T.astype(np.float32)) for key, W in zip(KEYS, self.WEIGHTS, strict=True)}
        try:
            student.MultiHeadAttention.run((12, 3), names, tensor(self.X.astype(np.float32)))
        except Raised:  # one may be there under another name
            own = own_names(dict.fromkeys(names, (12, 12)), student.MultiHeadAttention.build(12, 3))
            expect_names(own, "Are the layers kept as members under the names the exercise gives?")
            raise
        shapes = student.MultiHeadAttention.build(12, 3)
        if len(shapes) != 4 or any(shape != (12, 12) for shape in shapes.values()):
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            missing = ", ".join(name for name in names if name not in shapes)
            text = f"its parameters are {listed or 'none'}" + (f"; missing: {missing}." if missing else ".")
            expect.fail(text, "Which matrices does the formula have, each with numbers of its own?")

    @pytest.mark.weight(0.2)
    def test_d_head(self, student):
        """Where d_head is given, d_model need not divide: three heads of width four on d_model = 7."""
        self.looks_like_attention(self.attention(student))
        shapes = student.MultiHeadAttention.build(12, 3, 5)
        wide = {f"{key}.weight": (15, 12) for key in KEYS[:3]}
        for name, wanted in {**wide, "W_O.weight": (12, 15)}.items():
            if shapes.get(name, wanted) != wanted:
                hint = "d_model is 12, h is 3, d_head is 5. How many rows have W_Q, W_K and W_V, how many columns W_O?"
                expect.fail(f"{name} is {shapes[name]}.", hint)
        hint = "d_model is 7, h is 3, d_head is 4. How wide are all heads together, and where do they come back to 7?"
        X, matrices = normal(191, 2, 5, 7), weights_for(192, d_model=7)
        output, weights = self.attend(self.attention(student, d_model=7), X, matrices)
        # Zeros change nothing: d_model = 7 filled up to 12 is the ordinary case.
        wide = [padded(W, (12, 12)) for W in matrices]
        wanted = self.attend(self.attention(student), padded(X, (2, 5, 12)), wide)
        expect.close(weights, wanted[1], hint, "weights", ATOL)
        expect.shape(output, (2, 5, 7), hint, "output")
        expect.shape(wanted[0], (2, 5, 12), hint, "output")
        expect.close(output, wanted[0][..., :7], hint, "output", ATOL)

    @pytest.mark.weight(0.15)
    def test_does_not_divide(self, student):
        """Without d_head, a d_model that num_heads does not divide raises ValueError on construction."""
        self.looks_like_attention(self.attention(student))
        hint = "What is left over when 7 features are shared among 3 heads?"
        expect.raises(ValueError, lambda: student.MultiHeadAttention.build(7, 3), hint)
        expect.raises(ValueError, lambda: student.MultiHeadAttention.build(d_model=12, num_heads=5, d_head=None), hint)

    @pytest.mark.weight(0.3)
    def test_gradients(self, student):
        """Gradients reach x and all four matrices, through the output and through the weights."""
        self.looks_like_attention(self.attention(student))
        args = [tensor(self.X), *(tensor(w) for w in self.WEIGHTS)]
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way?"
        seeds = [tensor(normal(211, 2, 5, 12)), tensor(normal(212, 2, 3, 5, 5))]
        layer = Differentiable(self.attention(student))
        layer(*args)  # its shapes are right
        gradients_match(layer, args, seeds, hint, ["x", *KEYS])

    @pytest.mark.weight(0.1)
    def test_gradients_with_a_mask(self, student):
        """With a query that may attend to nothing, gradients stay finite, and that query has none."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        mask = MASK.copy()
        mask[1] = False
        layer = Differentiable(attention, mask)
        args = [tensor(self.X), *(tensor(w) for w in self.WEIGHTS)]
        layer(*args)  # its shapes are right
        hint = "Where could a 0 / 0 or an inf - inf hide, even if its result is replaced later?"
        seeds = [tensor(normal(213, 2, 5, 12)), tensor(normal(214, 2, 3, 5, 5))]
        everywhere = layer.gradients(*args, seeds=seeds)
        for name, gradient, arg in zip(["x", *KEYS], everywhere.inputs, args, strict=True):
            if not hasattr(gradient, "detach"):
                expect.fail(f"no gradient reaches {name}.", "Is there a .detach(), .data, .numpy() or torch.no_grad()?")
            expect.shape(gradient, tuple(arg.shape), hint, f"the gradient of {name}")
            expect.finite(gradient, hint, f"the gradient of {name}")
        only = np.zeros((2, 5, 12))
        only[:, 1] = normal(215, 2, 12)
        of_query_1 = layer.gradients(*args, seeds=[tensor(only), None])
        for name, gradient, arg in zip(["x", *KEYS], of_query_1.inputs, args, strict=True):
            if gradient is not None:
                what = f"query 1's share in the gradient of {name}"
                expect.close(gradient, np.zeros(tuple(arg.shape)), hint, what, EXACT)

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        x = normal(201, 2, 12, 5).astype(np.float32).swapaxes(-1, -2)
        matrices = [w.astype(np.float32) for w in self.WEIGHTS]
        parameters = attention.parameters(matrices)
        module, mask = student.MultiHeadAttention, tensor(MASK)
        options = {"d_head": 4, "num_heads": 3, "d_model": 12}
        by_name = in_order(x, expect.pair(module.run((), parameters, options=options, x=tensor(x), mask=mask).value))
        given = [tensor(x), mask]
        by_place = module.run((12, 3), parameters, *given)
        plain = self.attend(attention, np.ascontiguousarray(x), matrices, MASK)
        answers = zip(("output", "weights"), by_name, in_order(x, expect.pair(by_place.value)), plain, strict=True)
        for name, one, two, wanted in answers:
            expect.close(one, wanted, "Is the call by keyword the same as by position?", name, ATOL)
            expect.close(two, wanted, "Is memory read in the order of the axes?", name, ATOL)
        hint = "Look for operators like /= or functions like masked_fill_ on an argument."
        expect.unchanged(by_place.after, given, ["x", "mask"], hint)
