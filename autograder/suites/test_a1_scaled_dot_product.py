"""Hidden suite of a1: softmax, scores, attention, and the same in PyTorch. All sizes differ: L=4, S=5, d_k=6, d_v=3."""

import numpy as np
import pytest

from autograder.marking import expect
from autograder.suites.inputs import normal, tensor
from autograder.suites.properties import gradients_match, responds, same_item_by_item

LARGE = 1e4  # exp(1e4) overflows even float64


@pytest.mark.exercise("softmax")
class TestSoftmax:
    X = normal(1, 4, 5)

    def looks_like_weights(self, student):
        """Positive, and more weight for a larger score: true with or without the right axis, scale or sum."""
        scores = np.array([-2.0, 0.5, 1.0])
        got = expect.array(student.softmax(scores))
        expect.shape(got, (3,))
        if not (np.all(got > 0) and np.all(np.diff(got) > 0)):
            expect.fail("a larger score should get a larger weight, and every weight be positive.")
        responds(student.softmax, [self.X], [self.X * 2])

    @pytest.mark.weight(1)
    def test_shape(self, student):
        """The result has the shape of the input."""
        expect.shape(expect.array(student.softmax(self.X)), (4, 5))

    @pytest.mark.weight(5)
    def test_values(self, student, reference):
        """Ordinary scores give the right weights, with one axis, two, or three."""
        for seed, shape in ((2, (5,)), (3, (4, 5)), (4, (2, 3, 4))):
            x = normal(seed, *shape)
            hint = "Does each row sum to 1, and over which axis do you add up?"
            expect.close(expect.array(student.softmax(x)), reference.softmax(x), hint)

    @pytest.mark.weight(1.5)
    def test_axis(self, student, reference):
        """`axis` chooses the axis to normalise over."""
        x = normal(5, 3, 4, 5)
        for axis in (0, 1, -2):
            expect.close(student.softmax(x, axis=axis), reference.softmax(x, axis=axis), "Is `axis` used in every step?")

    @pytest.mark.weight(1.5)
    def test_large_scores(self, student):
        """Scores of 10,000 still give finite weights that sum to 1."""
        self.looks_like_weights(student)
        hint = "Before np.exp, what could be subtracted from x without changing the answer?"
        for x in (np.array([LARGE, 0.0, LARGE - 1.0]), np.array([[-LARGE, -LARGE - 2.0], [1e6, 1.0]])):
            got = expect.array(student.softmax(x))
            expect.finite(got, hint)
            if got.ndim == 1:
                expect.close(got.sum(), np.float64(1.0), hint, "the sum of the weights")

    @pytest.mark.weight(0.5)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_weights(student)
        for dtype in (np.float32, np.float64):
            expect.dtype(expect.array(student.softmax(self.X.astype(dtype))), dtype)

    @pytest.mark.weight(0.5)
    def test_inputs_left_alone(self, student):
        """The input is not changed."""
        self.looks_like_weights(student)
        expect.unchanged(student.softmax.inputs_after(self.X), [self.X], ["x"], "Look for -=, /= or out= on the argument.")


@pytest.mark.exercise("attention_scores")
class TestAttentionScores:
    Q, K = normal(11, 4, 6), normal(12, 5, 6)

    def looks_like_scores(self, student):
        """Twice the query, twice the score; and both arguments matter."""
        responds(student.attention_scores, [self.Q, self.K], [normal(13, 4, 6), normal(14, 5, 6)])
        once, twice = student.attention_scores(self.Q, self.K), student.attention_scores(2 * self.Q, self.K)
        expect.close(twice, 2 * np.asarray(once), "Twice the query should give twice the score.")

    @pytest.mark.weight(1)
    def test_shape(self, student):
        """Four queries and five keys give scores of shape (4, 5)."""
        expect.shape(expect.array(student.attention_scores(self.Q, self.K)), (4, 5), "One row a query, one column a key.")

    @pytest.mark.weight(5)
    def test_values(self, student, reference):
        """Each score is the dot product of a query and a key, divided by the square root of d_k."""
        for seed, (length, keys, width) in ((15, (4, 5, 6)), (17, (3, 2, 16))):
            Q, K = normal(seed, length, width), normal(seed + 1, keys, width)
            hint = "Take one query and one key and do it by hand: the product first, then the scale. What is it divided by?"
            expect.close(expect.array(student.attention_scores(Q, K)), reference.attention_scores(Q, K), hint)

    @pytest.mark.weight(2)
    def test_batch_axes(self, student):
        """Batch axes in front: each item is scored on its own."""
        self.looks_like_scores(student)
        hint = "Which two axes does .T swap when there are three?"
        same_item_by_item(student.attention_scores, [normal(19, 2, 4, 6), normal(20, 2, 5, 6)], 1, hint)
        same_item_by_item(student.attention_scores, [normal(21, 2, 3, 4, 6), normal(22, 2, 3, 5, 6)], 2, hint)

    @pytest.mark.weight(1)
    def test_one_query(self, student):
        """One query, one key, or width one: still an array with two axes, and the same numbers as among others."""
        self.looks_like_scores(student)
        whole = np.asarray(student.attention_scores(self.Q, self.K))
        one = expect.array(student.attention_scores(self.Q[:1], self.K[:1]))
        expect.close(one, whole[:1, :1], "Are sizes taken from the right axes?")
        expect.shape(student.attention_scores(self.Q[:, :1], self.K[:, :1]), (4, 5))

    @pytest.mark.weight(0.5)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_scores(student)
        for dtype in (np.float32, np.float64):
            got = expect.array(student.attention_scores(self.Q.astype(dtype), self.K.astype(dtype)))
            expect.dtype(got, dtype, "Which type has the number you divide by? math.sqrt gives one that keeps float32.")

    @pytest.mark.weight(0.5)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may be views with any layout in memory."""
        self.looks_like_scores(student)
        Q, K = normal(23, 6, 4).T, normal(24, 5, 12)[:, ::2]
        expect.unchanged(student.attention_scores.inputs_after(Q, K), [Q, K], ["Q", "K"], "Look for /= or *= on an argument.")


class AttentionTests:
    """What NumPy's and PyTorch's attention have in common: L=4, S=5, d_k=6, d_v=3."""

    NAME = ""
    Q, K, V = normal(31, 4, 6), normal(32, 5, 6), normal(33, 5, 3)
    OTHERS = (normal(34, 4, 6), normal(35, 5, 6), normal(36, 5, 3))

    def give(self, array):
        """An array as this exercise takes it."""
        return array

    def take(self, got):
        """Output and weights as arrays."""
        output, weights = expect.pair(got)
        return expect.array(output), expect.array(weights)

    def attend(self, student, *arrays):
        return self.take(getattr(student, self.NAME)(*map(self.give, arrays)))

    def looks_like_attention(self, student):
        """Every argument matters, and the same question gets the same answer."""
        responds(lambda *a: self.attend(student, *a), [self.Q, self.K, self.V], self.OTHERS)

    @pytest.mark.weight(1)
    def test_shape(self, student):
        """Four queries, five keys, values of width three: output (4, 3), weights (4, 5), as a tuple."""
        output, weights = self.attend(student, self.Q, self.K, self.V)
        expect.shape(output, (4, 3), what="the output")
        expect.shape(weights, (4, 5), what="the weights")

    @pytest.mark.weight(2)
    def test_weights(self, student, reference):
        """The weights are the softmax of the scaled scores, over the keys."""
        hint = "Each row belongs to one query and sums to 1. Is the score divided by the square root of d_k?"
        for seed in (41, 44):
            Q, K, V = normal(seed, 4, 6), normal(seed + 1, 5, 6), normal(seed + 2, 5, 3)
            _, wanted = reference.scaled_dot_product_attention(Q, K, V)
            expect.close(self.attend(student, Q, K, V)[1], wanted, hint, "weights")

    @pytest.mark.weight(3)
    def test_output(self, student, reference):
        """The output is the sum of the values, each times its weight."""
        hint = "Each output row blends all the values. Which numbers say how much of each?"
        for seed in (47, 50):
            Q, K, V = normal(seed, 4, 6), normal(seed + 1, 5, 6), normal(seed + 2, 5, 3)
            wanted, _ = reference.scaled_dot_product_attention(Q, K, V)
            expect.close(self.attend(student, Q, K, V)[0], wanted, hint, "output")

    @pytest.mark.weight(1)
    def test_batch_axes(self, student):
        """Batch axes in front: each item attends on its own."""
        self.looks_like_attention(student)
        hint = "Which axes do you swap, and over which do you add up, when there are more than two?"
        arrays = [normal(53, 2, 4, 6), normal(54, 2, 5, 6), normal(55, 2, 5, 3)]
        same_item_by_item(lambda *a: self.attend(student, *a), arrays, 1, hint)
        arrays = [normal(56, 3, 2, 4, 6), normal(57, 3, 2, 5, 6), normal(58, 3, 2, 5, 3)]
        same_item_by_item(lambda *a: self.attend(student, *a), arrays, 2, hint)

    @pytest.mark.weight(1)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers."""
        self.looks_like_attention(student)
        hint = "What could be subtracted from the scores before exp without changing the weights?"
        output, weights = self.attend(student, LARGE * self.Q, self.K, self.V)
        expect.finite(weights, hint, "weights")
        expect.finite(output, hint, "output")

    @pytest.mark.weight(0.5)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights."""
        self.looks_like_attention(student)
        for dtype in (np.float32, np.float64):
            output, weights = self.attend(student, *(a.astype(dtype) for a in (self.Q, self.K, self.V)))
            expect.dtype(output, dtype, what="output")
            expect.dtype(weights, dtype, what="weights")

    @pytest.mark.weight(0.5)
    def test_inputs_left_alone(self, student):
        """The inputs are not changed, and may be views with any layout in memory."""
        self.looks_like_attention(student)
        arrays = [normal(59, 6, 4).T, normal(60, 5, 12)[:, ::2], normal(61, 3, 5).T]
        given = [self.give(a) for a in arrays]
        after = getattr(student, self.NAME).inputs_after(*given)
        expect.unchanged(after, given, ["the first argument", "the second", "the third"], "Look for operators like /= on an argument.")


@pytest.mark.exercise("scaled_dot_product_attention")
class TestScaledDotProductAttention(AttentionTests):
    NAME = "scaled_dot_product_attention"


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention(AttentionTests):
    NAME = "torch_scaled_dot_product_attention"

    def give(self, array):
        return tensor(array)

    def take(self, got):
        output, weights = expect.pair(got)
        return expect.tensor(output), expect.tensor(weights)

    @pytest.mark.weight(2)
    def test_gradients(self, student):
        """Gradients reach query, key and value, through the output and through the weights."""
        self.looks_like_attention(student)
        function = student.torch_scaled_dot_product_attention
        args = [self.give(a) for a in (self.Q, self.K, self.V)]
        hint = "Is there a .detach(), .item(), .numpy() or torch.no_grad() on the way?"
        gradients_match(function, args, [tensor(normal(62, 4, 3)), None], hint)
        gradients_match(function, args[:2] + args[2:], [tensor(normal(63, 4, 3)), tensor(normal(64, 4, 5))], hint)
