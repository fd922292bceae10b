"""Hidden tests of next_word_probabilities."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal, tensor
from ...hidden.properties import responds
from ..shared_hidden_tests import ATOL, EXACT, LARGE

LOGITS = 1.5 * normal(671, 9)  # nine words; the likeliest has a third, and no two are equal


@pytest.mark.exercise("next_word_probabilities")
class TestNextWordProbabilities:
    def probabilities(self, student, logits=LOGITS, *args, **kwargs):
        """The answer as numbers, one for each word."""
        got = expect.tensor(student.next_word_probabilities(tensor(logits), *args, **kwargs))
        expect.shape(got, logits.shape, "One probability for each word of the vocabulary.")
        return got

    def looks_like_an_attempt(self, student):
        """Fails unless other logits give other probabilities."""
        call = lambda logits: self.probabilities(student, np.asarray(logits), 0.8, 5, 0.9)  # noqa: E731
        responds(call, [LOGITS], [1.5 * normal(672, 9)], ["logits"])

    def compare(self, student, reference, cases, hint):
        """Fails unless the answer is the reference's. A case is (temperature, top_k, top_p)."""
        for number, case in enumerate(cases):
            logits = 1.5 * normal(673 + number, 9 + number)
            wanted = self.probabilities(reference, logits, *case)
            got = self.probabilities(student, logits, *case)
            if (got > 0).sum() == (wanted > 0).sum() and ((got > 0) != (wanted > 0)).any():
                hint = "So many words should be left, but not these. In which order do they stand where you cut?"
            expect.close(got, wanted, hint, "the probabilities", ATOL)

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Logits of nine words: nine probabilities."""
        self.probabilities(student)

    @pytest.mark.weight(0.4)
    def test_temperature(self, student, reference):
        """With a temperature alone: a softmax of the logits divided by it."""
        cases = [(1.0, None, None), (0.5, None, None), (2.5, None, None)]
        self.compare(student, reference, cases, "Which temperature makes a model surer: 0.5 or 2? What does it divide?")

    @pytest.mark.weight(0.4)
    def test_top_k(self, student, reference):
        """With top_k: the k likeliest words share everything, all others have 0."""
        cases = [(1.0, 3, None), (0.7, 5, None), (1.0, 1, None)]
        self.compare(
            student, reference, cases, "Which words are the k likeliest, and what do those that are left sum to?"
        )

    @pytest.mark.weight(0.45)
    def test_top_p(self, student, reference):
        """With top_p: as few of the likeliest words as together have that much share everything."""
        cases = [(1.0, None, 0.6), (1.0, None, 0.85), (1.4, None, 0.75), (1.0, None, 0.1)]
        hint = "Go from the likeliest word down and add up. At which word do you stop, and is that one still in?"
        self.compare(student, reference, cases, hint)
        halves = -np.log(2.0) * np.array([2, 0, 2, 1])  # the likeliest two have 3/4, to the last digit
        if np.array_equal(self.probabilities(student, halves), [0.125, 0.5, 0.125, 0.25]):
            hint = "The likeliest two have exactly top_p together. Is that enough, or does one more stay?"
            got, wanted = (self.probabilities(one, halves, 1.0, None, 0.75) for one in (student, reference))
            expect.close(got, wanted, hint, "the probabilities", ATOL)
        equal = np.sort(self.probabilities(student, np.zeros(8), 1.0, None, 0.25))
        hint = "Eight words have an eighth each. How many of them are needed for a quarter?"
        if not np.allclose(equal, 1 / 8):  # code that takes equal words together keeps all eight, which is fine
            wanted = np.array([0.0] * 6 + [0.5] * 2)
            expect.close(equal, wanted, hint, "with equal logits, the sorted probabilities", ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """A vocabulary of 5,101 words, of 300, of 65, of two and of one."""
        hint = expect.IfOthersPass("With nine words other tests judge this. Is there a size in your code as a number?")
        for seed, words, case in (
            (684, 5101, (1.0, 4999, None)),
            (685, 300, (1.0, None, None)),
            (686, 300, (0.9, 133, 0.95)),
            (687, 65, (1.1, 64, None)),
            (689, 2, (1.0, 2, 0.9)),
            (690, 1, (0.7, 1, 1.0)),
        ):
            logits = 1.5 * normal(seed, words)
            got, wanted = (self.probabilities(one, logits, *case) for one in (student, reference))
            expect.close(got, wanted, hint, f"the probabilities of {words} words", EXACT)

    @pytest.mark.weight(0.45)
    def test_together(self, student, reference):
        """First the temperature, then top_k, then top_p, on what the k words have among themselves."""
        cases = [(0.6, 4, 0.9), (2.0, 4, 0.8), (1.5, 6, 0.75), (3.0, 3, 0.6)]
        hint = "After top_k, what do the words that are left sum to? Is top_p a share of that?"
        self.compare(student, reference, cases, hint)

    @pytest.mark.weight(0.1)
    def test_sum(self, student):
        """Probabilities are never negative, and sum to 1."""
        self.looks_like_an_attempt(student)
        for case in ((0.7, None, None), (1.0, 4, None), (1.0, None, 0.7), (1.3, 5, 0.8)):
            got = self.probabilities(student, LOGITS, *case)
            if (got < 0).any():
                expect.fail("a probability is below zero.", "Is it the logarithm of a probability?")
            expect.close(
                got.sum(), 1.0, "What do the words that are left sum to?", "the sum of the probabilities", ATOL
            )

    @pytest.mark.weight(0.2)
    def test_large_logits(self, student):
        """Logits of 10,000, or a temperature of a thousandth, give finite probabilities; only differences count."""
        self.looks_like_an_attempt(student)
        hint = "exp(1e4) overflows. Which softmax takes care of that?"
        for logits, temperature in ((LOGITS * LARGE, 1.0), (LOGITS, 0.001)):
            expect.finite(self.probabilities(student, logits, temperature), hint)
        hint = "What is divided by the temperature, if it is 0.04?"
        if expect.holds(lambda: self.divided(student, 0.5, "")):
            self.divided(student, 0.04, hint)
        hint = "All logits are very low here. What stands for a word that is cut off, and is it lower still?"
        for case in ((1.0, 4, None), (1.0, None, 0.7)):
            low, ordinary = (self.probabilities(student, logits, *case) for logits in (LOGITS - 300 * LARGE, LOGITS))
            expect.close(low, ordinary, hint, "with logits lower by 3,000,000, the probabilities", ATOL)

    def divided(self, student, temperature, hint):
        """Fails unless a temperature does what dividing the logits by it does."""
        got, wanted = (
            self.probabilities(student, LOGITS, temperature),
            self.probabilities(student, LOGITS / temperature),
        )
        expect.close(got, wanted, hint, f"with temperature {temperature}, the probabilities", ATOL)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.probabilities(student, LOGITS.astype(dtype), 0.8, 5, 0.9)
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?")

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """Arguments may come by keyword or not at all, and the logits are not changed."""
        self.looks_like_an_attempt(student)
        for named, case in (({"top_p": 0.8}, (1.0, None, 0.8)), ({"top_k": 4, "temperature": 0.6}, (0.6, 4, None))):
            plain = self.probabilities(student, LOGITS, *case)
            expect.close(
                self.probabilities(student, LOGITS, **named), plain, "What is left out is None, or 1.", atol=ATOL
            )
        after = student.next_word_probabilities.inputs_after(tensor(LOGITS), 0.8, 5, 0.9)
        expect.unchanged(after[:1], [tensor(LOGITS)], ["logits"], "Look for operators like /= and names that end in _.")
