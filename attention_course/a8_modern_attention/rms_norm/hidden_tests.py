"""Hidden tests of rms_norm."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, keeps_digits, responds, same_in_batches, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, BY_NAME, DTYPE, FROM_THE_END, IN_PLACE, loosely


@pytest.mark.exercise("rms_norm")
class TestRmsNorm:
    NAMES = ("x", "gamma", "eps")
    X, GAMMA = 1.5 * normal(1230, 5, 12) + 0.7, 1 + 0.4 * normal(1231, 12)  # neither its mean is 0 nor its size 1

    def norm(self, student, x, gamma=GAMMA, *eps):
        """The result, in the shape of x."""
        ask = Unbatched(student.rms_norm, 2, 0)  # `test_shape` judges code for batches only
        got = loosely(ask(x, gamma, *eps))
        expect.shape(got, x.shape)
        return got

    def some(self, student):
        """Several words, or a single one if the code raises on several. Other tests judge that."""
        return self.X if self.takes(student, self.X) or not self.takes(student, self.X[2]) else self.X[2]

    def takes(self, student, x):
        return expect.holds(lambda: student.rms_norm(x, self.GAMMA))

    def looks_like_an_attempt(self, student):
        """Fails unless other words and another gamma give another result."""
        x = self.some(student)
        others = [normal(1232, *x.shape), 2 - self.GAMMA]
        responds(lambda *args: self.norm(student, *args), [x, self.GAMMA], others, self.NAMES)

    @pytest.mark.weight(0.06)
    def test_shape(self, student):
        """The result has the shape of x."""
        expect.shape(expect.array(student.rms_norm(self.X, self.GAMMA)), (5, 12))

    @pytest.mark.weight(0.36)
    def test_values(self, student, reference):
        """Several words: each is divided by its own root mean square, then scaled by gamma."""
        hint = (
            "Take the example by hand: what is the mean of the squares, and how many of them are there for five words?"
        )
        for seed in (1240, 1250):
            x, gamma = 12 * normal(seed, 5, 12) - 3, normal(seed + 1, 12)
            expect.close(self.norm(student, x, gamma), reference.rms_norm(x, gamma), hint, atol=ATOL)

    @pytest.mark.weight(0.08)
    def test_one_word(self, student, reference):
        """One word alone, a single vector."""
        x = 10 * self.X[2]
        hint = "Which axis holds the features? Count it from the end."
        expect.close(self.norm(student, x), reference.rms_norm(x, self.GAMMA), hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_batch_axes(self, student):
        """One batch axis or two: each word is normalised on its own, whatever stands beside it."""
        self.looks_like_an_attempt(student)
        call = lambda x: self.norm(student, x)  # noqa: E731
        same_in_batches(call, [[normal(1260, 2, 5, 12)], [normal(1261, 2, 3, 4, 12)]], FROM_THE_END)
        # As many words as features, so that gamma would also fit the words' axis.
        same_item_by_item(call, [normal(1262, 12, 12)], 1, FROM_THE_END)

    @pytest.mark.weight(0.1)
    def test_real_sizes(self, student, reference):
        """Two texts of 71 words of width 96; 5,101 words; widths of 1, 2, 33 and 64."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_values)
        for number, shape in enumerate([(2, 71, 96), (64, 64), (2, 33), (1, 2), (1, 1, 1), (5101, 1)]):
            x, gamma = 1e4 * normal(1660 + 2 * number, *shape) - 30, normal(1661 + 2 * number, shape[-1])
            wanted, got = reference.rms_norm(x, gamma), self.norm(student, x, gamma)
            if plain:
                expect.close(got, wanted, ANY_SIZE, atol=ATOL)

    @pytest.mark.weight(0.05)
    def test_gamma(self, student):
        """gamma scales each feature, after the rest."""
        self.looks_like_an_attempt(student)
        x = self.some(student)
        plain = self.norm(student, x, np.ones(12))
        hint = "What is gamma multiplied with?"
        expect.close(self.norm(student, x), self.GAMMA * plain, hint, atol=ATOL)

    @pytest.mark.weight(0.1)
    def test_eps(self, student):
        """eps is added to the mean of the squares, under the root, and the caller may choose it."""
        self.looks_like_an_attempt(student)
        # The output has the size c / sqrt(v + eps), so 1 / size ** 2 is linear in eps.
        some = self.some(student)
        sizes = [np.linalg.norm(self.norm(student, some, np.ones(12), eps), axis=-1) for eps in (0.0, 2.0, 6.0)]
        expect.differs(sizes[1], sizes[0], "Where does eps come in?", "with another eps, the size of the result")
        with np.errstate(all="ignore"):
            one, three = (1 / sizes[i] ** 2 - 1 / sizes[0] ** 2 for i in (1, 2))
        if not np.allclose(three, 3 * one, rtol=1e-3):
            hint = "Do you add eps to the mean of the squares, or to its root?"
            expect.fail("eps does not have the share that it should.", hint)
        # The square of the divisor grows by eps itself. (The mean is 0 here, so subtracting it changes nothing.)
        x = some - some.mean(axis=-1, keepdims=True)
        with np.errstate(all="ignore"):
            none, two = ((x / self.norm(student, x, np.ones(12), eps)) ** 2 for eps in (0.0, 2.0))
        if not np.allclose(two - none, 2.0, rtol=1e-3):
            hint = "Do you add eps to the mean of the squares, or to their sum?"
            expect.fail("eps does not have the share that it should.", hint)
        got = self.norm(student, 0 * some)
        expect.close(got, 0 * some, "By what is a word of zeros divided?", "what comes of zeros", ATOL)

    @pytest.mark.weight(0.05)
    def test_default_eps(self, student):
        """Without eps, it is 1e-5."""
        self.looks_like_an_attempt(student)
        x = 0.003 * self.some(student)  # a mean square around 1e-5
        hint = "Which eps does the first line of the stub give, when the caller gives none?"
        expect.close(self.norm(student, x), self.norm(student, x, self.GAMMA, 1e-5), hint, atol=ATOL)

    @pytest.mark.weight(0.05)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.norm(student, self.some(student).astype(dtype), self.GAMMA.astype(dtype))
            expect.dtype(got, dtype, DTYPE)
            keeps_digits(got, "the result")

    @pytest.mark.weight(0.05)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        self.looks_like_an_attempt(student)
        x = normal(1270, 12, 5).T
        plain = self.norm(student, np.ascontiguousarray(x), self.GAMMA, 1e-5)
        by_name = loosely(student.rms_norm(eps=1e-5, gamma=self.GAMMA, x=x))
        expect.close(by_name, plain, BY_NAME, atol=ATOL)
        after = student.rms_norm.inputs_after(x, self.GAMMA)
        expect.unchanged(after, [x, self.GAMMA], self.NAMES, IN_PLACE)
