"""Hidden tests of greedy_summary."""

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.models import Adder, Storyteller
from ...hidden.properties import holds_in
from ..shared_hidden_tests import number, same_list, sequence, texts

SEPARATOR, END, MOST = 21, 22, 12
SAYS_ALL = [11, 10, 7, 19]  # after this article, `Adder` says 0 and the separator, and then more
ARTICLES = texts(41, 5, 8, 4, 6, 7, vocab_size=21)
# Each gives a summary of another length, which depends on the whole text. The long one repeats a word three times.
TELLERS = [Storyteller(seed, length, SEPARATOR, END) for seed, length in ((50, 4), (51, 6), (52, 3), (84, 9), (54, 2))]
LONG, SHORT, SILENT = (Storyteller(60, length, SEPARATOR, END) for length in (9, 3, 0))
ADDER = Adder()
# Python has one object for each number up to 256, so that `is` behaves like `==` there.
LARGE_IDS = (290, 298)  # separator, end
LARGE_TELLER = Storyteller(63, 4, *LARGE_IDS, vocab_size=299)


@pytest.mark.exercise("greedy_summary")
class TestGreedySummary:
    def summary(self, student, model, article, most=MOST, **kwargs):
        """The ids as a list."""
        got = student.greedy_summary(model, list(article), SEPARATOR, END, most, **kwargs)
        return [number(one) for one in sequence(got, "the summary")]

    def looks_like_a_summary(self, student):
        """The first article's summary. Fails unless equal calls give equal ones, and other arguments another one.

        An article returned unchanged is no summary. Whether both arguments matter, the tests of values judge.
        """
        first, again = (self.summary(student, TELLERS[0], ARTICLES[0]) for _ in range(2))
        if first != again:
            expect.fail("the same arguments give another summary each time.", "Which word is the likeliest?")
        handed_on = set(first) <= set(ARTICLES[0]) and first == self.summary(student, TELLERS[1], ARTICLES[0])
        if handed_on or all(first == self.summary(student, TELLERS[i], ARTICLES[i]) for i in range(1, len(TELLERS))):
            expect.fail("the summary does not depend on model and article.", "Is the model asked, word by word?")
        return first

    @pytest.mark.weight(0.2)
    def test_form(self, student):
        """A list with at least one token in it."""
        got = student.greedy_summary(TELLERS[0], list(ARTICLES[0]), SEPARATOR, END, MOST)
        if not sequence(got, "the summary"):
            expect.fail("returned an empty list, and the model has something to say.", "What does it say first?")

    @pytest.mark.weight(1.1)
    def test_summaries(self, student, reference):
        """Word by word the likeliest, each after all that stands there already, until the model says: end."""
        hint = "What does the model read when it writes the second word?"
        got = [self.summary(student, *pair) for pair in zip(TELLERS, ARTICLES, strict=True)]
        wanted = [self.summary(reference, *pair) for pair in zip(TELLERS, ARTICLES, strict=True)]
        for pair, one, right in zip(zip(TELLERS, ARTICLES, strict=True), got, wanted, strict=True):
            if one != right:
                self.summary(student, *pair)  # once more, so that the message shows this call
            if one and len(one) < len(right) and one == right[: len(one)]:
                words = f"{len(one)} words, and these are" if len(one) > 1 else "1 word, and it is"
                hint = "What ends your summary, or takes words out of it, beside the end and max_new_tokens?"
                expect.fail(f"the summary has {words} right, but not the whole.", hint)
            same_list(one, right, hint, "the summary")

    @pytest.mark.weight(0.2)
    def test_first_word(self, student, reference):
        """The first word is the likeliest one after article and separator."""
        hint = "What does the model read when it writes the first word?"
        for pair in zip(TELLERS, ARTICLES, strict=True):
            got, wanted = self.summary(student, *pair), self.summary(reference, *pair)
            same_list(got[:1], wanted[:1], hint, "the summary")

    @pytest.mark.weight(0.45)
    def test_at_most(self, student):
        """Never more than max_new_tokens words, and up to there the same ones."""
        self.looks_like_a_summary(student)
        whole = self.summary(student, LONG, ARTICLES[1])
        for most in (1, 3, 8):
            got = self.summary(student, LONG, ARTICLES[1], most)
            if len(got) > most:
                expect.fail(f"with max_new_tokens={most} the summary has {len(got)} words.", "What ends your loop?")
            same_list(got, whole[:most], "How often does the loop go round?", f"with max_new_tokens={most} the summary")

    @pytest.mark.weight(0.3)
    def test_ends(self, student, reference):
        """Where the model says end, the summary stops there, and nowhere else: not at a separator, not at token 0."""
        self.looks_like_a_summary(student)
        article = [*ARTICLES[3][:2], END, *ARTICLES[3][2:]]
        if not self.summary(student, SHORT, article):
            hint = "The end's number stands in the article here. Whose end does your loop look for?"
            expect.fail("the summary is empty, and the model has something to say.", hint)
        hint = "What happens in your loop when the likeliest token is end_id?"
        for model in (SHORT, LONG):
            some, more = (self.summary(student, model, ARTICLES[3], most) for most in (20, 40))
            if END in some:
                expect.fail("the summary holds the end token.", "The end says that the summary is over. Is it a word?")
            same_list(more, some, hint, "with max_new_tokens=40 the summary")
        got, wanted = (self.summary(one, ADDER, SAYS_ALL) for one in (student, reference))
        if holds_in(student, reference, self.test_summaries):
            hint = "The model says the separator here, and token 0. Which token ends a summary?"
            same_list(got, wanted, hint, "the summary")

    @pytest.mark.weight(0.3)
    def test_long_article(self, student):
        """An article of 68 words, or 4,200, is read from its first word to its last, for each word of the summary."""
        self.looks_like_a_summary(student)
        long, other = texts(65, 68, 68, vocab_size=21)
        if self.summary(student, LONG, long) == self.summary(student, LONG, [*other[:4], *long[4:]]):
            expect.fail("of a long article only the last words have a say.", "What does the model get to read?")
        (longest,) = texts(66, 4200, vocab_size=21)
        if self.summary(student, ADDER, longest, 2) == self.summary(student, ADDER, [longest[0] + 1, *longest[1:]], 2):
            expect.fail("of 4,200 words the first one has no say.", "What does the model get to read?")

    @pytest.mark.weight(0.1)
    def test_large_vocabulary(self, student):
        """In a vocabulary of some hundred words the summary stops at the end, too."""
        self.looks_like_a_summary(student)
        article = texts(64, 6, vocab_size=290)[0]
        some, more = (
            sequence(student.greedy_summary(LARGE_TELLER, list(article), *LARGE_IDS, most), "the summary")
            for most in (20, 30)
        )
        hint = "The end is 298 here. Does your code ask whether two numbers are equal, or whether they are one object?"
        if LARGE_IDS[1] in map(number, some) or len(more) != len(some):
            expect.fail(f"with max_new_tokens=30 the summary has {len(more)} words; that is not right.", hint)

    @pytest.mark.weight(0.1)
    def test_nothing_to_say(self, student):
        """A model that ends at once, or max_new_tokens=0: an empty list."""
        self.looks_like_a_summary(student)
        for model, most in ((SILENT, 6), (LONG, 0)):
            got = self.summary(student, model, ARTICLES[0], most)
            if got:
                expect.fail(f"the summary has {len(got)} words, it should have none.", "What comes first in the loop?")

    @pytest.mark.weight(0.1)
    def test_list_of_ints(self, student):
        """A plain list of ints."""
        self.looks_like_a_summary(student)
        got = student.greedy_summary(TELLERS[1], list(ARTICLES[1]), SEPARATOR, END, MOST)
        if not isinstance(got, list) or not all(isinstance(i, int | np.integer) for i in got):
            expect.fail(f"returned {expect.kind_of(got)}, not a list of ints.")

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """The article is as before; arguments may come by keyword."""
        plain = self.looks_like_a_summary(student)
        after = student.greedy_summary.inputs_after(TELLERS[0], list(ARTICLES[0]), SEPARATOR, END, MOST)
        if len(after) > 1 and after[1] != ARTICLES[0]:
            expect.fail("article_ids holds other values after the call than before.", "Whose list does append change?")
        got = student.greedy_summary(
            max_new_tokens=MOST, end_id=END, separator_id=SEPARATOR, article_ids=list(ARTICLES[0]), model=TELLERS[0]
        )
        if sequence(got, "the summary") != plain:
            expect.fail("returned something different when the arguments were passed by name.")
