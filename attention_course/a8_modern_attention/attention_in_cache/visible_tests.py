"""Visible tests of attention_in_cache, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

from ..shared_visible_tests import WAVES, waves

# What is to come out below; the inputs are sines.
OUTPUT = np.array([[-0.38, 0.2774, 0.2007, -0.4071, 0.0626], [-0.6659, 0.6382, 0.2533, -0.802, 0.2652]])
WEIGHTS = np.array([[0.1506, 0.7064, 0.143], [0.6593, 0.098, 0.2427]])
OUTPUT_WITH_SINKS = np.array([[-0.2099, 0.1532, 0.1108, -0.2248, 0.0346], [-0.5893, 0.5648, 0.2242, -0.7097, 0.2347]])
WEIGHTS_WITH_SINKS = np.array([[0.0832, 0.3901, 0.079], [0.5834, 0.0868, 0.2148]])

OUTPUT_OF_THE_SECOND_TEXT = np.array(
    [[0.0678, -0.0493, -0.036, 0.0725, -0.0109], [-0.1961, 0.1947, 0.0702, -0.2401, 0.085]]
)
OUTPUT_OF_300 = np.array([[0.01, -0.0074, -0.0052, 0.0107, -0.0018], [0.0051, -0.0011, -0.0044, 0.004, 0.0018]])
LAST_WEIGHTS_OF_300 = np.array([[0.0016, 0.0067, 0.0014], [0.0085, 0.0012, 0.0038]])


@pytest.mark.exercise("attention_in_cache")
class TestAttentionInCache:
    # One head and two words, as by hand; two heads and three words.
    QUERY, K, V = np.array([[2**0.5, 0.0]]), np.array([[[2.0, 0.0], [2.0, 0.0]]]), np.array([[[10.0], [20.0]]])
    OTHER = waves(0.7, 2, 4), waves(1.1, 2, 3, 4), waves(1.9, 2, 3, 5)
    SINKS = np.array([1.0, -0.5])

    def judge(self, student, output, weights, *args):
        got = student.attention_in_cache(*args)
        if not isinstance(got, tuple) or len(got) != 2:
            expect.fail(f"returned {expect.kind_of(got)}, not the tuple (output, weights).", symptom="kind")
        for part, wanted, what in zip(got, (output, weights), ("output", "weights"), strict=True):
            close(expect.array(part, what=what), np.array(wanted), what)

    def test_by_hand(self, student):
        """The example by hand: two equal keys, one place apart."""
        with shown("By what is each key rotated, and by what the query?", query=self.QUERY, K=self.K, V=self.V):
            self.judge(student, [[17.1492]], [[0.2851, 0.7149]], self.QUERY, self.K, self.V)

    def test_three_words(self, student):
        """Two heads of width 4, and three words in the cache, with values of width 4 and 5."""
        query, K, V = self.OTHER
        with shown("At which place does each key stand? Is a value rotated?", query=query, K=WAVES, V=WAVES):
            self.judge(student, OUTPUT[:, :4], WEIGHTS, query, K, V[..., :4])
        with shown(
            "What does your code keep from one call to the next?",
            query=query,
            K=WAVES,
            V="minus those, and one column more",
        ):
            self.judge(student, -OUTPUT, WEIGHTS, query, K, -V)

    def test_a_sink_by_hand(self, student):
        """The example by hand with a sink logit of 2: it takes 42 % of the weight. One of 0 takes 9 %."""
        given = {"query": self.QUERY, "K": self.K, "sink_logits": np.array([2.0])}
        question = "Which sum stands below the fraction bar?"
        with shown(question, **given):
            got = student.attention_in_cache(self.QUERY, self.K, self.V, np.array([2.0]))
        if isinstance(got, tuple) and len(got) == 2 and expect.holds(lambda: close(np.sum(expect.array(got[1])), 1.0)):
            question = "The weights of your two words sum to 1. What is left for the sink?"
        with shown(question, **given):
            self.judge(student, [[10.0]], [[0.1662, 0.4169]], self.QUERY, self.K, self.V, np.array([2.0]))
        with shown("What is e to the power of 0?", query=self.QUERY, K=self.K, sink_logits=np.array([0.0])):
            self.judge(student, [[15.6363]], [[0.2599, 0.6518]], self.QUERY, self.K, self.V, np.array([0.0]))

    def test_a_sink_for_each_head(self, student):
        """Two heads, with a sink logit for each of them."""
        question = "Which sink logit belongs to which head, and is it divided by anything?"
        with shown(question, query=self.OTHER[0], K=WAVES, V=WAVES, sink_logits=self.SINKS):
            self.judge(student, OUTPUT_WITH_SINKS, WEIGHTS_WITH_SINKS, *self.OTHER, self.SINKS)

    def test_large(self, student):
        """Scores of 10,000 and a sink logit of 10,000 give finite numbers."""
        query, K, V = self.OTHER
        with shown("Which is the largest number that goes into your np.exp?", query="10,000 times sines"):
            for args in ((1e4 * query, K, V), (query, K, V, self.SINKS + 1e4)):
                output, weights = student.attention_in_cache(*args)
                expect.finite(expect.array(output), "", "output")
                expect.finite(expect.array(weights), "", "weights")

    def test_two_texts(self, student):
        """Two texts at once, each with a cache of its own."""
        both = [np.stack([part, 0.5 * part]) for part in self.OTHER]
        with shown("Which axes does your code count from the front?", "exception", "shape", query=both[0]):
            output, _ = student.attention_in_cache(*both)
            close(expect.array(output)[0], OUTPUT, "the first text's output")
            close(expect.array(output)[1], OUTPUT_OF_THE_SECOND_TEXT, "the second text's output")

    def test_long_cache(self, student):
        """Three hundred words in the cache: the newest stands at place 299."""
        K, V = waves(1.1, 2, 300, 4), waves(1.9, 2, 300, 5)
        question = "Short caches come out right? Then which of your numbers is a size?"
        with shown(question, "exception", query=self.OTHER[0], K=WAVES, V=WAVES):
            output, weights = student.attention_in_cache(self.OTHER[0], K, V)
            close(expect.array(weights, what="weights")[:, -3:], LAST_WEIGHTS_OF_300, "the last three weights")
            close(expect.array(output, what="output"), OUTPUT_OF_300, "output")

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and which writes into an argument?"):
            keeps(student.attention_in_cache, *self.OTHER, names="query K V")
