"""Visible tests of next_word_probabilities, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, shown


@pytest.mark.exercise("next_word_probabilities")
class TestNextWordProbabilities:
    PLAIN = np.array([0.2, 0.4, 0.1, 0.3])  # the example by hand; its logits are the logarithms

    def logits(self, dtype="float64"):
        import torch

        return torch.from_numpy(np.log(self.PLAIN).astype(dtype))

    def judge(self, student, wanted, question, *case):
        names = ("temperature", "top_k", "top_p")
        given = {"exp(logits)": self.PLAIN, **dict(zip(names, case, strict=False))}
        with shown(question, **given):
            got = expect.tensor(student.next_word_probabilities(self.logits(), *case))
        if np.shape(got) == (4,) and np.allclose(got, np.sort(wanted)[::-1], atol=1e-3):
            question = "Which word has the first number of your result as its probability?"
        elif np.shape(got) == (4,) and 0 < sum(got) < 0.99 and np.allclose(got / sum(got), wanted, atol=1e-3):
            question = "The right words are left, and how likely they are beside each other. What do they sum to?"
        with shown(question, **given):
            close(got, wanted)

    def test_as_they_are(self, student):
        """Nothing asked for: the softmax of the logits."""
        self.judge(student, self.PLAIN, "Which function makes probabilities of logits?")

    def test_temperature(self, student):
        """Temperature 0.5: the likeliest gets likelier."""
        question = "0.4 is twice 0.2. At temperature 0.5, how many times as likely is it?"
        self.judge(student, [0.1333, 0.5333, 0.0333, 0.3], question, 0.5)

    def test_top_k(self, student):
        """top_k 2: the likeliest two, who had 0.4 and 0.3, share everything; with top_k 1 it is one."""
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], "What do the two that are left sum to?", 1.0, 2)
        self.judge(student, [0.0, 1.0, 0.0, 0.0], "Which word is left, and how likely is it now?", 1.0, 1)

    def test_top_p(self, student):
        """top_p 0.6: 0.4 is not enough, 0.4 + 0.3 is. With 0.75 it takes three words, with 0.3 one."""
        question = "Add up from the likeliest word on: with which word is top_p reached?"
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], question, 1.0, None, 0.6)
        self.judge(student, [0.2222, 0.4444, 0.0, 0.3333], question, 1.0, None, 0.75)
        self.judge(student, [0.0, 1.0, 0.0, 0.0], question, 1.0, None, 0.3)

    def test_just_enough(self, student):
        """Words with 0.5, 0.25, 0.125 and 0.125, and top_p 0.75: two reach it."""
        import torch

        logits = torch.tensor([0.0, -1.0, -2.0, -2.0], dtype=torch.float64) * np.log(2)
        with shown("The first two reach top_p. Does one more stay?", logits=logits.numpy(), top_p=0.75):
            plain = expect.tensor(student.next_word_probabilities(logits))
            got = expect.tensor(student.next_word_probabilities(logits, 1.0, None, 0.75))
            if np.array_equal(plain, [0.5, 0.25, 0.125, 0.125]):  # and not a little less, by rounding
                close(got, [2 / 3, 1 / 3, 0.0, 0.0])

    def test_equal_words(self, student):
        """Four words with a quarter each, and top_p 0.5: two of them reach it, so three are too many."""
        import torch

        with shown("How many of the four does it take to reach top_p?", logits=np.zeros(4), top_p=0.5):
            got = expect.tensor(student.next_word_probabilities(torch.zeros(4), 1.0, None, 0.5))
            if not np.allclose(got, 0.25):  # code that takes equal words together keeps all four, which is fine
                close(np.sort(got), [0.0, 0.0, 0.5, 0.5], "the probabilities, sorted,")

    def test_small_top_p(self, student):
        """top_p 0.1: the likeliest word has more by itself."""
        self.judge(student, [0.0, 1.0, 0.0, 0.0], "How many words have to stay at least?", 1.0, None, 0.1)

    def test_together(self, student):
        """top_k 3 leaves 0.44, 0.33 and 0.22. For top_p 0.75 two of them will do."""
        question = "top_k has thrown words out before. What do the rest add up to, when top_p looks at them?"
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], question, 1.0, 3, 0.75)
        question = "At temperature 2 the roots count. Is that done before the others are cut off, or after?"
        self.judge(student, [0.2748, 0.3886, 0.0, 0.3366], question, 2.0, None, 0.65)

    def test_large_logits(self, student):
        """Logits around 1000: it is their differences that count."""
        import torch

        logits = torch.tensor([1000.0, 1002.0, 0.0, 1001.0])
        with shown("What is e to the power of 1000, for a computer? Which softmax takes care?", logits=logits.numpy()):
            close(expect.tensor(student.next_word_probabilities(logits)), [0.09, 0.6652, 0.0, 0.2447])

    def test_many_words(self, student):
        """300 words: the last one has half of it all, and the others share the other half."""
        import torch

        logits = torch.zeros(300, dtype=torch.float64)
        logits[299] = float(np.log(299))
        with shown("Right for four words? Which number in your code is a size?", logits="0, and log 299 at the end"):
            close(expect.tensor(student.next_word_probabilities(logits)), [0.5 / 299] * 299 + [0.5])

    def test_left_alone(self, student):
        """float32 gives float32, float64 gives float64, and the logits are as before."""
        with shown("Is it a tensor of your own that you write into, and of which dtype?"):
            for dtype in ("float32", "float64"):
                got = student.next_word_probabilities(self.logits(dtype), 0.5, 3, 0.75)
                expect.dtype(expect.tensor(got), np.dtype(dtype).type)
            logits = self.logits("float32")
            after = student.next_word_probabilities.inputs_after(logits, 0.5, 3, 0.75)[0]
            close(expect.tensor(after), np.log(self.PLAIN), "the logits")
