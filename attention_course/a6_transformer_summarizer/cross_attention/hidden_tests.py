"""Hidden tests of cross_attention."""

import math

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ...hidden.properties import gradients_match, holds_in, nothing_for_the_rest, responds, same_item_by_item
from ..shared_hidden_tests import ATOL, EXACT, LARGE, LOUD


def cross_input(seed, batch=(2,), length=5, width=12, places=7, memory_width=12, d_k=4, d_v=4, heads=3):
    """x, memory, W_Q, W_K, W_V, W_O for a number of heads, with scores of up to about 3."""
    w_1, w_2 = 1.4 / math.sqrt(width), 1.4 / math.sqrt(memory_width)
    return [
        normal(seed, *batch, length, width),
        normal(seed + 1, *batch, places, memory_width),
        w_1 * normal(seed + 2, width, heads * d_k),
        w_2 * normal(seed + 3, memory_width, heads * d_k),
        w_2 * normal(seed + 4, memory_width, heads * d_v),
        normal(seed + 5, heads * d_v, width) / math.sqrt(heads * d_v),
    ]


# Padding also stands between real words, so that a length cannot replace it. Place 0 is real in both texts: so a causal
# mask put in by mistake leaves no row empty, however it is made.
REAL = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1, 0]], dtype=bool)[:, np.newaxis]  # (2, 1, 7)
NOTHING_REAL = REAL * np.array([True, False])[:, np.newaxis, np.newaxis]


@pytest.mark.exercise("cross_attention")
class TestCrossAttention:
    NAMES = ("x", "memory", "W_Q", "W_K", "W_V", "W_O")
    GIVEN = cross_input(681)  # two texts with L = 5 queries, S = 7 places of memory, h = 3, all widths 12
    SHAPES = ((2, 5, 12), (2, 3, 5, 7))

    def attend(self, student, given, padding=None, heads=3):
        """Output and weights, in this order: the weights have one axis more than x."""
        more = [] if padding is None else [tensor(padding)]
        pair = expect.pair(student.cross_attention(*map(tensor, given), heads, *more))
        found = [expect.tensor(part) for part in pair]
        more_axes = [part.ndim - given[0].ndim for part in found]
        return found[::-1] if more_axes == [1, 0] else found

    def in_shape(self, answer):
        for part, shape, what in zip(answer, self.SHAPES, ("output", "weights"), strict=True):
            expect.shape(part, shape, "Whose words ask, and whose words answer?", what)
        return answer

    def looks_like_attention(self, student, padding=None):
        """Fails unless another memory gives another output and other weights."""
        call = lambda *given: tuple(self.attend(student, given, padding))  # noqa: E731
        responds(call, self.GIVEN, cross_input(687)[:2], self.NAMES)
        return self.attend(student, self.GIVEN, padding)

    def compare(self, got, wanted, hint, only=slice(None)):
        for part, right, what in list(zip(got, wanted, ("output", "weights"), strict=True))[only]:
            expect.close(part, right, hint, what, ATOL)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """Texts of five words ask, seven places answer, three heads: output (2, 5, 12), weights (2, 3, 5, 7)."""
        pair = expect.pair(student.cross_attention(*map(tensor, self.GIVEN), 3))
        hint = "Output first, then the weights: for each head a row per word of x, a column per place of memory."
        for part, shape, what in zip(pair, self.SHAPES, ("output", "weights"), strict=True):
            expect.shape(expect.tensor(part, what=what), shape, hint, what)

    @pytest.mark.weight(0.2)
    def test_weights(self, student, reference):
        """Each word of x compares its query with the keys of memory, in each head."""
        hint = "Which text do the queries come from, and which one the keys? What is a score divided by?"
        for seed in (691, 697):
            given = cross_input(seed)
            wanted = self.attend(reference, given)
            self.compare(self.attend(student, given), wanted, hint, slice(1, 2))

    @pytest.mark.weight(0.22)
    def test_output(self, student, reference):
        """The values of memory, blended by the weights, the heads side by side, times W_O."""
        hint = "Which text do the values come from? What happens to the heads before W_O?"
        for seed in (703, 709):
            given = cross_input(seed)
            wanted = self.attend(reference, given)
            self.compare(self.attend(student, given), wanted, hint, slice(0, 1))

    @pytest.mark.weight(0.2)
    def test_real_sizes(self, student, reference):
        """Seventy words ask a memory of 67, two one of 5,101; eight heads on a width of 96; one word; with padding."""
        hint = expect.IfOthersPass("With five words other tests judge this. Is there a size in your code as a number?")
        for seed, heads, sizes in (
            (751, 3, {"batch": (1,), "length": 70, "width": 24, "places": 67, "memory_width": 24, "d_k": 8, "d_v": 8}),
            (757, 5, {"length": 1, "width": 8, "places": 16, "memory_width": 9, "d_k": 3, "d_v": 3}),
            (769, 1, {"batch": (1,), "length": 2, "width": 2, "places": 5101, "memory_width": 1, "d_k": 1, "d_v": 1}),
            (763, 8, {"length": 35, "width": 96, "places": 32, "memory_width": 64, "d_k": 8, "d_v": 8}),
        ):
            given = cross_input(seed, heads=heads, **sizes)
            given[0] /= 1 + sizes["places"] // 1000  # so that no weight is nearly zero because there are so many
            real = np.arange(sizes["places"]) % 5 != 3
            real = real[np.newaxis, np.newaxis] & np.ones((len(given[0]), 1, 1), dtype=bool)
            wanted = self.attend(reference, given, real, heads)
            self.compare(self.attend(student, given, real, heads), wanted, hint)

    @pytest.mark.weight(0.2)
    def test_padding(self, student, reference):
        """Nobody looks at the padding of memory; what is left shares everything. The words of x all ask."""
        hint = "True means a real word. Which axis of the weights belongs to memory, and who takes part in a row's sum?"
        all_of_one = REAL | np.array([True, False])[:, np.newaxis, np.newaxis]  # one text has no padding
        for seed, length, real in ((715, 5, REAL), (721, 5, all_of_one), (745, 7, REAL)):  # and once with L = S
            given = cross_input(seed, length=length)
            wanted = self.attend(reference, given, real)
            self.compare(self.attend(student, given, real), wanted, hint)

    @pytest.mark.weight(0.08)
    def test_widths(self, student, reference):
        """No two widths are alike: x 9, memory 10, d_k 4, d_v 5; and L = S or L = h is a length like any other."""
        hint = "From which shape do you read how wide one head is, and how long a text?"
        for sizes in (
            {"width": 9, "memory_width": 10, "d_v": 5},
            {"length": 7},
            {"length": 3},
            {"length": 8, "d_k": 2},
        ):
            given = cross_input(727, **sizes)
            self.compare(self.attend(student, given), self.attend(reference, given), hint)

    @pytest.mark.weight(0.08)
    def test_no_order(self, student):
        """Each word asks for itself, and the order of memory counts for nothing: the weights only move with it."""
        output, weights = self.in_shape(self.looks_like_attention(student))
        x, memory, *matrices = self.GIVEN
        order = [3, 6, 0, 5, 1, 4, 2]
        hint = "Which words of memory may the first word of x look at, and which the last?"
        moved = self.in_shape(self.attend(student, [x, memory[:, order], *matrices]))
        self.compare(moved, [output, weights[..., order]], hint)
        alone = self.attend(student, [x[:, 1:3], memory, *matrices])
        self.compare(alone, [output[:, 1:3], weights[..., 1:3, :]], "Does a word's answer hang on the words beside it?")

    @pytest.mark.weight(0.1)
    def test_no_leak(self, student):
        """What stands at a padded place of memory changes nothing, however loud it is."""
        plain = self.in_shape(self.looks_like_attention(student, REAL))
        loud = [*self.GIVEN]
        loud[1] = np.where(REAL.swapaxes(-2, -1), loud[1], 1e3 * LOUD * np.sign(loud[1]))
        hint = "Huge numbers stand at the padded places of memory. In which step do they still take part?"
        self.compare(self.in_shape(self.attend(student, loud, REAL)), plain, hint)

    @pytest.mark.weight(0.1)
    def test_nothing_real(self, student):
        """One memory, or all, of nothing but padding: weights and output 0, not NaN, and another text is as ever."""
        plain = self.in_shape(self.looks_like_attention(student, REAL))
        got = self.in_shape(self.attend(student, self.GIVEN, NOTHING_REAL))
        hint = "If all of memory is hidden, what do you divide by, and what should come out?"
        for part, before, what in zip(got, plain, ("output", "weights"), strict=True):
            expect.finite(part, hint, what)
            expect.close(part[1], np.zeros_like(part[1]), hint, f"{what} of the text whose memory is padding", EXACT)
            expect.close(part[0], before[0], "Do two texts get in each other's way?", f"{what} of the other text", ATOL)
        got = self.in_shape(self.attend(student, self.GIVEN, np.zeros_like(REAL)))
        for part, what in zip(got, ("output", "weights"), strict=True):
            expect.close(part, np.zeros_like(part), hint, f"if all memory is padding, {what}", EXACT)

    @pytest.mark.weight(0.28)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text asks its own memory, and has its own padding."""
        call = lambda x, memory, *real: tuple(self.attend(student, [x, memory, *self.GIVEN[2:]], *real))  # noqa: E731
        responds(call, self.GIVEN[:2], cross_input(687)[:2], self.NAMES)
        hint = "Count the axes from the end. Where does padding get an axis for the heads?"
        for batch, real in (((2,), REAL), ((3, 2), np.stack([REAL, REAL[::-1], REAL[..., [0, 6, 5, 4, 3, 2, 1]]]))):
            x, memory = cross_input(733, batch)[:2]
            same_item_by_item(call, [x, memory], len(batch), hint)
            same_item_by_item(call, [x, memory, real], len(batch), hint)

    @pytest.mark.weight(0.12)
    def test_large_scores(self, student, reference):
        """Scores of 10,000 and more give finite numbers, with and without padding; far lower ones get no weight."""
        self.looks_like_attention(student)
        large = [LARGE * self.GIVEN[0], *self.GIVEN[1:]]
        hint = "exp(1e4) overflows. Which softmax takes care of that?"
        for padding in (None, REAL):
            for part, what in zip(self.attend(student, large, padding), ("output", "weights"), strict=True):
                expect.finite(part, hint, what)
        if holds_in(student, reference, self.test_weights):
            nothing_for_the_rest(self.attend(student, large)[1])
        # All scores are below -1,000,000: real words must not vanish beside the number that hides others.
        x, memory, W_Q, W_K, *rest = (np.abs(array) for array in self.GIVEN)
        ordinary, low = (self.attend(student, [of_x * (1 + x), 1 + memory, W_Q, W_K, *rest], REAL)[1].sum(axis=-1)
                         for of_x in (1e-3, -100 * LARGE))  # fmt: skip
        if low.shape == ordinary.shape and ((low < 0.01) & (ordinary > 0.99)).any():
            hint = "All scores are very low here. What stands for a hidden one, and is it lower still?"
            expect.fail("a word of x has weights that sum to 0, and memory has real words.", hint)

    @pytest.mark.weight(0.13)
    def test_gradients(self, student):
        """Gradients reach both texts and all four matrices, through the output and through the weights."""
        parts = self.looks_like_attention(student)
        seeds = [tensor(normal(740 + axes, *part.shape)) for axes, part in enumerate(parts)]
        in_order = self.attend(student, self.GIVEN)[0].shape == tuple(
            expect.pair(student.cross_attention(*map(tensor, self.GIVEN), 3))[0].shape
        )
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way?"
        given = [*map(tensor, self.GIVEN), 3]
        seeds = seeds if in_order else seeds[::-1]
        gradients_match(student.cross_attention, given, seeds, hint, self.NAMES)
        # Also with a memory of padding only. Wrong values and errors without gradients fail other tests.
        of_nothing = lambda: student.cross_attention.gradients(*given, tensor(NOTHING_REAL), seeds=seeds)  # noqa: E731
        if expect.holds(of_nothing) and expect.holds(lambda: self.test_nothing_real(student)):
            hint = "Where could a 0 / 0 or an inf - inf hide, even if its result is replaced later?"
            for name, gradient in zip(self.NAMES, of_nothing().inputs, strict=False):
                if gradient is not None:
                    expect.finite(gradient, hint, f"with a memory of nothing but padding, the gradient of {name}")

    @pytest.mark.weight(0.09)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights, with and without padding."""
        self.looks_like_attention(student)
        for dtype in (np.float32, np.float64):
            for padding in (None, REAL):
                answer = self.attend(student, [array.astype(dtype) for array in self.GIVEN], padding)
                for part, what in zip(answer, ("output", "weights"), strict=True):
                    expect.dtype(part, dtype, "Is a tensor made on the way, and of which dtype?", what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        plain = self.looks_like_attention(student, REAL)
        views = [np.ascontiguousarray(array.swapaxes(-2, -1)).swapaxes(-2, -1) for array in self.GIVEN]
        named = dict(zip(self.NAMES, map(tensor, views), strict=True)) | {
            "num_heads": 3,
            "memory_padding": tensor(REAL),
        }
        got = [expect.tensor(part) for part in expect.pair(student.cross_attention(**named))]
        got = got[::-1] if got[0].ndim > got[1].ndim else got
        self.compare(got, plain, "Is memory read in the order of the axes? reshape can do what view cannot.")
        given = [*map(tensor, self.GIVEN), 3, tensor(REAL)]
        hint = "Look for operators like /= and names that end in _."
        after = student.cross_attention.inputs_after(*given)
        expect.unchanged(after, given, [*self.NAMES, "num_heads", "memory_padding"], hint)
