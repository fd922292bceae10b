"""Hidden tests of torch_scaled_dot_product_attention."""

import contextlib

import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal, tensor
from ...hidden.properties import gradients_match
from ...hidden.weights import with_weight
from ..shared_hidden_tests import LARGE, AttentionTests


@pytest.mark.exercise("torch_scaled_dot_product_attention")
class TestTorchScaledDotProductAttention(AttentionTests):
    NAME = "torch_scaled_dot_product_attention"
    NAMES = ("query", "key", "value")
    DETACHED = "Which operations on the way hand on a gradient, and which ones let go of it?"

    # NumPy's tests with fewer points, to leave some for two tests of gradients.
    test_shape = with_weight(0.4, AttentionTests.test_shape)
    test_weights = with_weight(0.7, AttentionTests.test_weights)
    test_output = with_weight(1.05, AttentionTests.test_output)
    test_real_sizes = with_weight(0.6, AttentionTests.test_real_sizes)
    test_batch = with_weight(0.55, AttentionTests.test_batch)
    test_two_batch_axes = with_weight(0.6, AttentionTests.test_two_batch_axes)
    test_lengths_of_one = with_weight(0.25, AttentionTests.test_lengths_of_one)
    test_dtype = with_weight(0.25, AttentionTests.test_dtype)
    test_inputs_left_alone = with_weight(0.3, AttentionTests.test_inputs_left_alone)
    test_by_name = with_weight(0.2, AttentionTests.test_by_name)

    def give(self, array):
        return tensor(array)

    def kind(self, got, what):
        return expect.tensor(got, what=what)

    SEEDS = (tensor(normal(62, 4, 3)), tensor(normal(63, 4, 5)))  # one for the output and one for the weights

    def seeded(self, student):
        """The arguments, and the seeds in the order in which this function returns output and weights."""
        got = self.split(self.function(student)(*map(self.give, (self.Q, self.K, self.V))))
        swapped = len(got) == 2 and tuple(getattr(got[0], "shape", ())) == (4, 5)
        return [tensor(a) for a in (self.Q, self.K, self.V)], list(self.SEEDS[:: -1 if swapped else 1])

    @pytest.mark.weight(0.4)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers and gradients; the largest of a row takes all the weight."""
        super().test_large_scores(student)
        args, seeds = self.seeded(student)
        with contextlib.suppress(Raised):  # code without any gradient loses points in `test_gradients`
            given = self.function(student).gradients(LARGE * args[0], *args[1:], seeds=seeds)
            for gradient, name in zip(given.inputs, self.NAMES, strict=False):
                if gradient is not None:
                    expect.finite(gradient, what=f"the gradient of {name}")

    @pytest.mark.weight(0.5)
    def test_gradients(self, student):
        """Gradients of the output reach query, key and value."""
        args, seeds = self.seeded(student)
        of_output = [seed if seed is self.SEEDS[0] else None for seed in seeds]
        gradients_match(self.function(student), args, of_output, self.DETACHED, self.NAMES)

    @pytest.mark.weight(0.2)
    def test_gradients_of_weights(self, student):
        """Gradients of output and weights together reach query, key and value."""
        args, seeds = self.seeded(student)
        gradients_match(self.function(student), args, seeds, self.DETACHED, self.NAMES)
