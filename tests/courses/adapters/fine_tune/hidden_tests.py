"""Hidden tests of fine_tune."""

import pytest

from autograder.testing import expect

from ..shared_hidden_tests import D_IN, D_OUT, WEIGHTS, numbers

X, Y = numbers(10, 7, D_IN), numbers(11, 7, D_OUT)


@pytest.mark.exercise("fine_tune")
class TestFineTune:
    @pytest.mark.weight(2)
    def test_one_step(self, student, reference):
        """One step."""
        self.compare(student, reference, 1, "Does each weight move against its gradient?")

    def test_steps(self, student, reference):
        """Several steps."""
        self.compare(student, reference, 5, "What is in a weight's .grad before the second step?")

    def test_no_step(self, student, reference):
        """No step leaves both as they were."""
        self.compare(student, reference, 0, "What changes if nothing is trained?")

    def compare(self, student, reference, steps, hint):
        got = expect.pair(student.fine_tune(WEIGHTS, X, Y, steps, 0.1), "(A, B)")
        for name, mine, right in zip("AB", got, reference.fine_tune(WEIGHTS, X, Y, steps, 0.1), strict=True):
            expect.close(expect.tensor(mine), right, hint, name)
