"""Hidden tests of Running."""

import pytest

from autograder.testing import expect


def add(numbers, *last):
    return [*(("add", x) for x in numbers), *last]


@pytest.mark.exercise("Running")
class TestRunning:
    @pytest.mark.weight(2)
    def test_mean(self, student, reference):
        """The mean after one number, and after several."""
        for numbers in ([7.0], [4.0, -1.0, 2.5, 9.0]):
            steps = add(numbers, ("mean",))
            expect.close(student.Running.use(steps), reference.Running.use(steps), "How much does one number weigh?")

    @pytest.mark.weight(2)
    def test_variance(self, student, reference):
        """The variance after one number, and after several."""
        for numbers in ([7.0], [4.0, -1.0, 2.5, 9.0]):
            steps = add(numbers, ("variance",))
            expect.close(student.Running.use(steps), reference.Running.use(steps), "By what is the sum divided?")

    def test_asking_changes_nothing(self, student, reference):
        """Numbers may come after a question, too."""
        steps = [*add([1.0, 5.0], ("mean",), ("variance",)), *add([3.0, 8.0], ("mean",))]
        expect.close(student.Running.use(steps), reference.Running.use(steps), "What does `mean` change?")

    def test_none_yet(self, student):
        """None before the first number."""
        for question in ("mean", "variance"):
            expect.equal(student.Running.use([(question,)]), None, "What is there to divide by?")

    def test_new_object_is_empty(self, student):
        """A second object knows nothing of the first."""
        steps = [*add([50.0, 60.0]), ("__init__",), *add([3.0], ("mean",))]
        expect.close(student.Running.use(steps), 3.0, "Which numbers does a new object have?")

    def test_far_from_zero(self, student, reference):
        """Small differences of very large numbers."""
        steps = add([1e9 + x for x in (4.0, 7.0, 13.0, 16.0)], ("variance",))
        hint = "How many digits do the squares of such numbers have?"
        expect.close(student.Running.use(steps), reference.Running.use(steps), hint)
