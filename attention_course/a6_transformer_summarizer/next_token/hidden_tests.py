"""Hidden tests of next_token."""

import pytest

from autograder.testing import expect

from ...hidden.models import Adder, Reader
from ..shared_hidden_tests import number, texts

# Kept as long as the tests, so that a diagnosis can call the same model again.
MODEL, OTHER, SOBER, ADDER = Reader(31), Reader(32), Reader(33, lift=-400.0), Adder()
TEXTS = texts(34, 4, 7, 5, 9, 6, 8, 5, 10)


@pytest.mark.exercise("next_token")
class TestNextToken:
    def ids(self, student, model=MODEL, some=TEXTS):
        """The answers to all texts. All calls are made before one is judged, so that a diagnosis has every answer."""
        got = [student.next_token(model, list(text)) for text in some]
        return [number(one) for one in got]

    def compare(self, student, reference, model, some, hint):
        """Fails unless the student's answers are the reference's."""
        for text, one, right in zip(
            some, self.ids(student, model, some), self.ids(reference, model, some), strict=True
        ):
            if one != right:
                student.next_token(model, list(text))  # once more, so that the message shows this call
                expect.fail(f"it is {one}, which is not right.", hint)

    def looks_like_a_prediction(self, student):
        """The first four answers. Fails unless equal calls give equal tokens, and other texts or models other ones."""
        some = TEXTS[:4]
        first = self.ids(student, some=some)
        if first != self.ids(student, some=some):
            expect.fail("the same arguments give another token each time.", "Which word is the likeliest?")
        if len(set(first)) == 1 or self.ids(student, OTHER, some) == first:
            expect.fail("the answer does not depend on model and text.", "Is the model asked?")
        return first

    @pytest.mark.weight(0.15)
    def test_form(self, student):
        """One token id from the vocabulary."""
        for got in self.ids(student):
            if not 0 <= got < 23:
                expect.fail(f"returned {got}; the vocabulary has the ids 0 to 22.", "Which axis is the argmax over?")

    @pytest.mark.weight(0.95)
    def test_likeliest(self, student, reference):
        """The token with the largest logit after the whole text."""
        hint = "The model gives logits at every place. At which place do they speak of the token after the text?"
        self.compare(student, reference, MODEL, TEXTS, hint)

    @pytest.mark.weight(0.1)
    def test_one_word(self, student, reference):
        """A text of one token, too."""
        self.looks_like_a_prediction(student)
        hint = "Is an axis of length one dropped, or a place counted that is not there?"
        self.compare(student, reference, MODEL, [[4], [11], [20], [2]], hint)

    @pytest.mark.weight(0.2)
    def test_long_text(self, student):
        """A text of seventy words is read from its first one, and so is one of 4,200."""
        self.looks_like_a_prediction(student)
        long = texts(35, *[70] * 6, 64)
        others = [[*other[:6], *text[6:]] for text, other in zip(long, texts(36, *[70] * 6, 64), strict=True)]
        if self.ids(student, some=long) == self.ids(student, some=others):
            expect.fail("of a long text only the last words have a say.", "What does the model get to read?")
        (longest,) = texts(37, 4200)
        one, other = self.ids(student, ADDER, [longest, [(longest[0] + 1) % 23, *longest[1:]]])
        if one == other:
            expect.fail("of 4,200 words the first one has no say.", "What does the model get to read?")

    @pytest.mark.weight(0.15)
    def test_lifted_logits(self, student):
        """Logits may all be far below zero; only their order matters."""
        self.looks_like_a_prediction(student)
        hint = "What becomes of the order of logits that are all around -400?"
        sober, lifted = self.ids(student, SOBER), self.ids(student, Reader(33))
        if sober != lifted:
            expect.fail("the answer changes where all logits are lower by 400.", hint)

    @pytest.mark.weight(0.2)
    def test_plain_int(self, student):
        """The answer is a Python int, ready to be appended to a list of ids."""
        self.looks_like_a_prediction(student)
        got = student.next_token(MODEL, list(TEXTS[0]))
        if isinstance(got, bool) or not isinstance(got, int):
            expect.fail(f"returned {expect.kind_of(got)}, not an int.", "How do you get the number out of a tensor?")

    @pytest.mark.weight(0.1)
    def test_text_unchanged(self, student):
        """The list of ids is as before."""
        self.looks_like_a_prediction(student)
        after = student.next_token.inputs_after(MODEL, list(TEXTS[1]))
        if len(after) > 1 and after[1] != TEXTS[1]:
            expect.fail("token_ids holds other values after the call than before.", "Whose list does append change?")

    @pytest.mark.weight(0.15)
    def test_keywords(self, student):
        """The arguments may come by keyword."""
        plain = self.looks_like_a_prediction(student)
        if number(student.next_token(token_ids=list(TEXTS[2]), model=MODEL)) != plain[2]:
            expect.fail("returned something different when the arguments were passed by name.")
