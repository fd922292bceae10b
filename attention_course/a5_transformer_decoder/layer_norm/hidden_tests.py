"""Hidden tests of layer_norm."""

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal
from ...hidden.properties import keeps_digits, responds, same_in_batches, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME


@pytest.mark.exercise("layer_norm")
class TestLayerNorm:
    NAMES = ("x", "gamma", "beta", "eps")
    X = 1.5 * normal(301, 5, 12) + 0.7  # five words, with a mean other than 0 and a variance other than 1
    GAMMA, BETA = 1 + 0.4 * normal(302, 12), 0.5 * normal(303, 12)

    def norm(self, student, x, gamma=GAMMA, beta=BETA, *eps):
        """The result, in the shape of x."""
        ask = Unbatched(student.layer_norm, 2, 0)  # `test_shape` judges code for batches only
        got = expect.array(ask(x, gamma, beta, *eps))
        expect.shape(got, x.shape)
        return got

    def looks_like_norm(self, student):
        """The words that this code takes: five, or one alone. Fails unless words, gamma and beta change the result."""
        x = self.X
        try:
            self.norm(student, x)
        except Raised:  # the tests of values judge that
            x = self.X[2]
        others = [normal(304, *x.shape), 2 - self.GAMMA]
        responds(lambda *args: self.norm(student, *args), [x, self.GAMMA, self.BETA], others, self.NAMES)
        return x

    @pytest.mark.weight(0.13)
    def test_shape(self, student):
        """The result has the shape of x."""
        expect.shape(expect.array(student.layer_norm(self.X, self.GAMMA, self.BETA)), (5, 12))

    @pytest.mark.weight(0.35)
    def test_one_word(self, student, reference):
        """One word alone, a single vector: its mean goes, its size goes, then gamma and beta."""
        hint = "Take the example by hand: what is the mean, what the variance, what is divided by what?"
        x = 10 * self.X[2]  # so large that the default of eps, which has a test of its own, does not matter
        expect.close(self.norm(student, x), reference.layer_norm(x, self.GAMMA, self.BETA), hint, atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Seventy words of width 96, sixteen of width 2, one of width 64, 5100; and numbers that all lie at 10,000."""
        hint = expect.IfOthersPass(
            "With five words of width 12 another test judges this. Is there a size in your code as a number?"
        )
        for seed, sizes in ((315, (70, 96)), (318, (16, 2)), (321, (1, 64)), (324, (33, 7)), (327, (5100, 2))):
            x, gamma, beta = 1e4 * normal(seed, *sizes) - 30, normal(seed + 1, sizes[1]), normal(seed + 2, sizes[1])
            wanted = reference.layer_norm(x, gamma, beta)
            expect.close(self.norm(student, x, gamma, beta), wanted, hint, f"the result for {sizes[0]} words", ATOL)
        # The square of 10,000 has no place in float32 for a variance of 2. With the mean taken off first, correct code
        # is off by 0.002.
        given = [(self.X + 10_000).astype(np.float32), *(a.astype(np.float32) for a in (self.GAMMA, self.BETA))]
        wanted = reference.layer_norm(*(a.astype(np.float64) for a in given))
        hint = "Which numbers do you square, and how many digits are left of them in float32?"
        expect.close(self.norm(student, *given), wanted, hint, "with 10,000 added to x, the result", 0.03)

    @pytest.mark.weight(0.85)
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
        # As many words as features, so that gamma and beta would also fit the words' axis.
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
        # The output for a word with variance v has the size c / sqrt(v + eps), so 1 / size ** 2 is linear in eps.
        plain = (np.ones(12), np.zeros(12))
        sizes = [np.linalg.norm(self.norm(student, x, *plain, eps), axis=-1) for eps in (0.0, 2.0, 6.0)]
        expect.differs(sizes[1], sizes[0], "Where does eps come in?", "with another eps, the size of the result")
        with np.errstate(all="ignore"):
            one, three = (1 / sizes[i] ** 2 - 1 / sizes[0] ** 2 for i in (1, 2))
        if not np.allclose(three, 3 * one, rtol=1e-3):
            expect.fail(
                "eps does not have the share that it should.", "Do you add eps to the variance, or to its root?"
            )
        # The square of the divisor grows by eps itself. (The mean of x is 0.)
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
