"""Hidden tests of MultiHeadAttention."""

import math

import numpy as np
import pytest

from autograder.testing import Gradients, Raised, expect

from ...hidden.inputs import normal, tensor
from ...hidden.modules import keeps_nothing, same_as_evaluated
from ...hidden.modules_as_made import HINT, expect_heads_apart, expect_ordinary
from ...hidden.parameter_names import expect_names, is_bare, student_names
from ...hidden.properties import gradients_match
from ...hidden.weights import with_weight
from ..shared_hidden_tests import ATOL, EXACT, KEYS, MASK, MultiHeadTests, in_order, padded, weights_for


def given(x, mask=None):
    """The arguments of a module's call."""
    return [tensor(x)] if mask is None else [tensor(x), tensor(np.ascontiguousarray(mask))]


class Layer:
    """A student's module, called like a function of x and the four matrices.

    The matrices are (in, out), as in NumPy. nn.Linear stores them as (out, in), a bare parameter in either way. A bias
    that should not exist is set to 0, and layers are found under other names, because one test judges both. Another
    one judges the default width of a head. The module runs in `eval()`, so that dropout costs only the one test that
    uses `train()`.
    """

    def __init__(self, student, d_model, num_heads, d_head):
        self.module = student.MultiHeadAttention
        width = num_heads * d_head
        wanted = {f"{key}.weight": (width, d_model) for key in KEYS[:3]} | {"W_O.weight": (d_model, width)}
        self.construct, self.shapes = self.built(wanted, d_model, num_heads, d_head)
        bare = [name for name in self.shapes if is_bare(name)]
        # If no matrix is square, the shapes show how they are stored.
        shapes = list(self.module.build(12, 3, 5).values()) if bare else []
        self.as_in_numpy = bare if shapes.count((12, 15)) > shapes.count((15, 12)) else []
        stored = {name: shape[::-1] if name in self.as_in_numpy else shape for name, shape in self.shapes.items()}
        found = student_names(wanted, stored)
        self.names = [found.get(name, name) for name in wanted]  # a missing one keeps its name, for the message

    def built(self, wanted, d_model, num_heads, d_head):
        """The constructor's arguments, without `d_head` if possible, and the shapes of the parameters."""
        given, short = (d_model, num_heads, d_head), (d_model, num_heads)
        if num_heads * d_head != d_model:
            return given, self.module.build(*given)
        try:
            shapes = self.module.build(*short)
        except Raised:
            return given, self.module.build(*given)
        fits = {math.prod(shape) for shape in wanted.values()} <= {math.prod(shape) for shape in shapes.values()}
        return (short, shapes) if fits else (given, self.module.build(*given))

    def turned(self, name, W):
        """A matrix (in, out) as the module stores it, or its gradient as (in, out)."""
        return W if name in self.as_in_numpy else W.T

    def parameters(self, matrices):
        """These matrices as the student's parameters, by name."""
        given = {name: tensor(self.turned(name, W)) for name, W in zip(self.names, matrices, strict=True)}
        biases = {name: shape for name, shape in self.shapes.items() if name.endswith("bias")}
        return given | {name: tensor(np.zeros(shape, dtype=matrices[0].dtype)) for name, shape in biases.items()}

    def run(self, x, matrices, mask=None, after=None, training=False, **kwargs):
        """The result of `Function.run`: construct, fill and call the module. `after`: tensors for an earlier call."""
        kwargs |= {"after": after, "training": training}
        return self.module.run(self.construct, self.parameters(matrices), *given(x, mask), **kwargs)

    def __call__(self, x, *matrices, **kwargs):
        output, weights = expect.pair(self.run(x, matrices, **kwargs).value)
        return expect.tensor(output), expect.tensor(weights)

    def value(self, matrices, x, mask=None, after=None):
        """Only the output."""
        return in_order(x, self(x, *matrices, mask=mask, after=after))[0]


class Differentiable:
    """A layer in the form that `gradients_match` takes: tensors in and out, gradients of x and the matrices."""

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
        found = [(name, got.parameters.get(name)) for name in self.layer.names]
        turned = [self.layer.turned(n, g) if hasattr(g, "detach") and g.ndim == 2 else g for n, g in found]
        value = in_order(x, expect.pair(got.value))
        return Gradients(value, [*(got.inputs or [None])[:1], *turned])


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttentionModule(MultiHeadTests):
    DTYPE = np.float32  # a module's default; the tests of dtype and gradients judge float64
    BATCH = (2,)  # the usual case; the test of batch axes judges none and two
    REAL = (((1,), 70, 24, 3), ((1,), 521, 2, 1), ((2,), 16, 15, 5), ((2,), 2, 16, 2), ((2,), 35, 96, 8))

    def attention(self, student, d_model=12, num_heads=3, d_head=4):
        return Layer(student, d_model, num_heads, d_head)

    def keeps_nothing(self, layer, free):
        x, *matrices = (array.astype(self.DTYPE) for array in (self.X, *self.WEIGHTS))
        keeps_nothing(layer, matrices, x, MASK, "What does your layer keep from one call to the next?")

    def at_real_sizes(self, layer, X, weights, mask):
        """Compares with `train()` first, so that the message of a dropout shows that call."""
        matrices = [array.astype(self.DTYPE) for array in weights]
        trained = in_order(X, layer(X.astype(self.DTYPE), *matrices, mask=mask, training=True))
        answer = self.attend(layer, X, weights, mask)
        for name, actual, expected in zip(("output", "weights"), trained, answer, strict=True):
            same_as_evaluated(actual, expected, f"the {name}", ATOL)
        return answer

    test_shape = with_weight(0.25, MultiHeadTests.test_shape)
    test_weights = with_weight(0.45, MultiHeadTests.test_weights)
    test_output = with_weight(0.85, MultiHeadTests.test_output)
    test_one_head_one_word = with_weight(0.05, MultiHeadTests.test_one_head_one_word)
    test_real_sizes = with_weight(0.6, MultiHeadTests.test_real_sizes)
    test_batch_axes = with_weight(0.15, MultiHeadTests.test_batch_axes)
    test_values_with_a_mask = with_weight(0.8, MultiHeadTests.test_values_with_a_mask)
    test_mask = with_weight(0.19, MultiHeadTests.test_mask)
    test_mask_and_large_scores = with_weight(0.3, MultiHeadTests.test_mask_and_large_scores)
    test_mask_axes = with_weight(0.15, MultiHeadTests.test_mask_axes)
    test_nothing_to_attend_to = with_weight(0.3, MultiHeadTests.test_nothing_to_attend_to)
    test_large_scores = with_weight(0.3, MultiHeadTests.test_large_scores)
    test_dtype = with_weight(0.21, MultiHeadTests.test_dtype)

    @pytest.mark.weight(0.25)
    def test_parameters(self, student):
        """The layers W_Q, W_K, W_V, W_O have weights of shape (12, 12) for d_model = 12; no bias, nothing else."""
        names = {f"{key}.weight": tensor(W.T.astype(np.float32)) for key, W in zip(KEYS, self.WEIGHTS, strict=True)}
        try:
            student.MultiHeadAttention.run((12, 3), names, tensor(self.X.astype(np.float32)), training=False)
        except Raised:  # a layer may have another name
            found = student_names(dict.fromkeys(names, (12, 12)), student.MultiHeadAttention.build(12, 3))
            expect_names(found, "Are the layers kept as members under the names the exercise gives?")
            raise
        shapes = student.MultiHeadAttention.build(12, 3)
        if len(shapes) != 4 or any(shape != (12, 12) for shape in shapes.values()):
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            missing = ", ".join(name for name in names if name not in shapes)
            text = f"its parameters are {listed or 'none'}" + (f"; missing: {missing}." if missing else ".")
            expect.fail(text, "Which matrices does the formula have, each with numbers of its own?")

    @pytest.mark.weight(0.2)
    def test_as_made(self, student):
        """As it is made, it can learn: in float32, with numbers of ordinary size, and no head like another."""
        self.looks_like_attention(self.attention(student))
        layer = self.attention(student, 12, 6, 2)
        x = normal(221, 2, 5, 12).astype(np.float32)
        seeds = 2 * [tensor(normal(222, 2, 5, 12))]  # for the output, which may come first or second
        got = layer.module.run(layer.construct, {}, tensor(x), seeds=seeds, training=False)
        for name, part in zip(("output", "weights"), expect.pair(got.value), strict=True):
            expect_ordinary(part, name)
        none = {name: np.zeros(shape, np.float32) for name, shape in layer.shapes.items()}
        found = none | {n: g.numpy() for n, g in got.parameters.items() if hasattr(g, "detach")}
        gradients = [layer.turned(name, found[name]) for name in layer.names]
        if not any(gradient.any() for gradient in gradients):
            expect.fail("as it is made, no parameter has a gradient other than zero.", HINT)
        axes = zip(gradients, (1, 1, 1, 0), strict=True)
        expect_heads_apart([np.split(gradient, 6, axis=axis) for gradient, axis in axes])

    @pytest.mark.weight(0.15)
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
        # Zeros change nothing: d_model = 7, padded with zeros to 12, is the ordinary case.
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
        layer(*args)  # fails if its shapes are wrong
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
        layer(*args)  # fails if its shapes are wrong
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

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        attention = self.attention(student)
        self.looks_like_attention(attention)
        x = normal(201, 2, 12, 5).astype(np.float32).swapaxes(-1, -2)
        matrices = [w.astype(np.float32) for w in self.WEIGHTS]
        parameters = attention.parameters(matrices)
        module, mask = student.MultiHeadAttention, tensor(MASK)
        options = {"d_head": 4, "num_heads": 3, "d_model": 12}
        named = {"x": tensor(x), "mask": mask}
        by_name = in_order(x, expect.pair(module.run((), parameters, options=options, training=False, **named).value))
        given = [tensor(x), mask]
        by_place = module.run((12, 3), parameters, *given, training=False)
        plain = self.attend(attention, np.ascontiguousarray(x), matrices, MASK)
        answers = zip(("output", "weights"), by_name, in_order(x, expect.pair(by_place.value)), plain, strict=True)
        for name, by_keyword, by_position, wanted in answers:
            expect.close(by_keyword, wanted, "Is the call by keyword the same as by position?", name, ATOL)
            expect.close(by_position, wanted, "Is memory read in the order of the axes?", name, ATOL)
        hint = "Look for operators like /= or functions like masked_fill_ on an argument."
        expect.unchanged(by_place.after, given, ["x", "mask"], hint)
