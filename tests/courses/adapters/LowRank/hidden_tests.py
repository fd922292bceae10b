"""Hidden tests of LowRank."""

import pytest

from autograder.testing import expect

from ..shared_hidden_tests import D_IN, D_OUT, WEIGHTS, R, numbers

SIZES = (D_IN, D_OUT, R)


@pytest.mark.exercise("LowRank")
class TestLowRank:
    def test_parameters(self, student, reference):
        """base, A and B, of the right shapes."""
        expect.equal(student.LowRank.build(*SIZES), reference.LowRank.build(*SIZES), "Which is r x d_in?")

    @pytest.mark.weight(3)
    def test_output(self, student, reference):
        """The right output, also with two batch axes and another scale."""
        for x, options in ((numbers(5, 6, D_IN), {}), (numbers(6, 2, 5, D_IN), {"scale": 8.0})):
            got, right = (one.LowRank.run(SIZES, WEIGHTS, x, options=options) for one in (student, reference))
            expect.close(expect.tensor(got.value), right.value, "What is B A x multiplied by?")

    @pytest.mark.weight(0.5)
    def test_begins_with_the_base(self, student):
        """Before any training, only the base answers."""
        base = {name: WEIGHTS[name] for name in ("base.weight", "base.bias")}
        x = numbers(7, 5, D_IN)
        got, right = student.LowRank.run(SIZES, base, x).value, x @ base["base.weight"].T + base["base.bias"]
        expect.close(expect.tensor(got), right, "What is B at first?")

    def test_gradients(self, student, reference):
        """Gradients reach the input, A and B, and not the base."""
        x, seed = numbers(8, 6, D_IN), numbers(9, 6, D_OUT)
        got, right = (one.LowRank.run(SIZES, WEIGHTS, x, seeds=[seed]) for one in (student, reference))
        expect.close(got.inputs[0], right.inputs[0], "Is the graph cut somewhere?", "the gradient of x")
        for name in ("A", "B"):
            expect.close(got.parameters[name], right.parameters[name], what=f"the gradient of {name}")
        expect.equal(got.parameters["base.weight"], None, "Is the base frozen?", "the gradient of base.weight")
