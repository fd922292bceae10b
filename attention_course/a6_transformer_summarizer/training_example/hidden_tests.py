"""Hidden tests of training_example."""

import numpy as np
import pytest

from autograder.testing import expect

from ..shared_hidden_tests import number, same_list, sequence


@pytest.mark.exercise("training_example")
class TestTrainingExample:
    ARTICLE, SUMMARY = [14, 31, 8, 27, 19], [40, 12, 33]  # no word in common; another test has some
    MARKS = (3, 5)  # separator, end

    def both(self, student, *args, **kwargs):
        """Token ids and mask as lists of any items."""
        ids, mask = expect.pair(student.training_example(*args, **kwargs), "(token_ids, loss_mask)")
        return sequence(ids, "token_ids"), sequence(mask, "loss_mask")

    def ids(self, student, *args, **kwargs):
        """The token ids."""
        return [number(i) for i in self.both(student, *args, **kwargs)[0]]

    def mask(self, student, *args, **kwargs):
        """The mask."""
        return [self.flag(m) for m in self.both(student, *args, **kwargs)[1]]

    def example(self, student, *args, **kwargs):
        """Both."""
        ids, mask = self.both(student, *args, **kwargs)
        return [number(i) for i in ids], [self.flag(m) for m in mask]

    def flag(self, got):
        """True or False; 1 and 0 are accepted here."""
        if hasattr(got, "detach") or isinstance(got, np.ndarray):
            got = got.item() if hasattr(got, "item") and np.size(got) == 1 else got
        if not isinstance(got, bool | np.bool_ | int | np.integer | float | np.floating):
            expect.fail(f"loss_mask holds {expect.kind_of(got)}.", "Each entry is True or False.")
        return bool(got)

    def looks_like_an_example(self, student):
        """Fails unless other articles and summaries give other ids, and a longer summary gives another mask."""
        first = self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        if first != self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS):
            expect.fail("the same arguments give another result each time.")
        longer = self.example(student, [14, 31, 9, 27, 19, 2, 7], [40, 13, 33, 36], *self.MARKS)
        if first[0] == longer[0] or first[1] == longer[1] or not any(first[1]):
            expect.fail("the result does not depend on article and summary.", "Is every argument used?")
        return first

    @pytest.mark.weight(0.2)
    def test_form(self, student):
        """A tuple of two: the token ids, and a mask with one entry for each of them."""
        ids, mask = self.both(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        if len(ids) != len(mask):
            expect.fail(f"{len(ids)} token ids and {len(mask)} mask entries.", "Does each token have its entry?")

    @pytest.mark.weight(0.82)
    def test_token_ids(self, student, reference):
        """Article, separator, summary, end, one after the other."""
        hint = "Write the words down in order. What stands between article and summary, and what comes last?"
        for args in (
            (self.ARTICLE, self.SUMMARY, 3, 5),
            ([9, 20, 9, 6, 31], [7, 22, 41], 3, 5),  # as long as the first ones
            ([6, 6, 9], [22, 17, 30, 11, 28], 1, 0),
            (list(range(20, 33)), [44, 2], 9, 7),
            ([], [9, 4], 3, 5),
            ([7, 8], [], 3, 5),
            ([0, 7], [0, 31, 0], 3, 5),
        ):
            wanted, _ = reference.training_example(*args)
            same_list(self.ids(student, *args), wanted, hint, "token_ids")

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """An article of seventy words and a summary of thirty-three; hundreds and thousands; one word each."""
        hint = expect.IfOthersPass("With a few words other tests judge this. Is there a size in your code as a number?")
        for article, summary in ((70, 33), (129, 64), (1, 1), (2, 16), (5101, 300)):
            given = [list(range(69_000, 69_000 + article)), list(range(300, 300 + summary)), 3, 5]
            wanted_ids, wanted_mask = reference.training_example(*given)
            words = f"for {article} and {summary} words "
            same_list(self.ids(student, *given), wanted_ids, hint, f"{words}token_ids")
            same_list(self.mask(student, *given), wanted_mask, hint, f"{words}loss_mask")

    @pytest.mark.weight(0.93)
    def test_loss_mask(self, student, reference):
        """The loss counts the summary and its end, and nothing before."""
        hint = "Which tokens do we want the model to learn to write itself?"
        for args in (
            (self.ARTICLE, self.SUMMARY, 3, 5),
            ([6, 6, 9], [22, 17, 30, 11, 28], 1, 0),
            (list(range(20, 33)), [44, 2], 9, 7),
            ([], [9, 4], 3, 5),
            ([7, 8], [], 3, 5),
            ([0, 7], [0, 31, 0], 3, 5),
        ):
            _, wanted = reference.training_example(*args)
            same_list(self.mask(student, *args), wanted, hint, "loss_mask")

    @pytest.mark.weight(0.35)
    def test_words_in_common(self, student):
        """Where the article has words of the summary, or the end's id, each place counts by where it stands."""
        self.looks_like_an_example(student)
        _, apart = self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        _, common = self.example(student, [40, 5, 12, 12, 19], [12, 40, 12], *self.MARKS)
        hint = "Is a place counted for where it stands, or for which word is there?"
        same_list(common, apart, hint, "loss_mask")

    @pytest.mark.weight(0.2)
    def test_lists(self, student):
        """Two plain lists: one of ints, one of True and False."""
        self.looks_like_an_example(student)
        ids, mask = student.training_example(self.ARTICLE, self.SUMMARY, *self.MARKS)
        for name, got in (("token_ids", ids), ("loss_mask", mask)):
            if not isinstance(got, list):
                expect.fail(f"{name} is {expect.kind_of(got)}, not a list.")
        if not all(type(i) is int for i in ids):
            expect.fail("token_ids holds something that is no int.")
        if not all(isinstance(m, bool | np.bool_) for m in mask):
            hint = "As a mask, what do tensors of 0 and 1 do that tensors of False and True do not?"
            expect.fail("loss_mask holds something that is neither True nor False.", hint)

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """The lists that came in are as before; arguments may come by keyword."""
        by_place = self.looks_like_an_example(student)
        after = student.training_example.inputs_after(list(self.ARTICLE), list(self.SUMMARY), *self.MARKS)
        for name, now, then in zip(("article_ids", "summary_ids"), after, (self.ARTICLE, self.SUMMARY), strict=False):
            if now != then:
                expect.fail(f"{name} holds other values after the call than before.", "Whose list does append change?")
        by_name = self.example(
            student, end_id=5, separator_id=3, summary_ids=list(self.SUMMARY), article_ids=list(self.ARTICLE)
        )
        if by_name != by_place:
            expect.fail("returned something different when the arguments were passed by name.")
