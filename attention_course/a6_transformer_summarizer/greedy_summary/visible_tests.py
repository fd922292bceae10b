"""Visible tests of greedy_summary, for students to read; the numbers are those of the notebook."""

import pytest

from autograder.testing import equal, shown

from ..shared_visible_tests import ADDING, adding, counting, unchanged


@pytest.mark.exercise("greedy_summary")
class TestGreedySummary:
    def test_counting(self, student):
        """Article [4, 2], separator 5, end 9: the summary is [6, 7, 8]."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 20}
        with shown("Compare it with the table: what is read, what is said, what is kept?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [6, 7, 8], "the summary")

    def test_at_most_two(self, student):
        """The same with max_new_tokens=2: [6, 7]."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 2}
        with shown("How often may your loop go round?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [6, 7], "the summary")

    def test_nothing_to_say(self, student):
        """Article [3], separator 8, end 9: the first word would be the end, so the summary is empty."""
        given = {"article_ids": [3], "separator_id": 8, "end_id": 9, "max_new_tokens": 20}
        with shown("Is the end a word of the summary?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [], "the summary")

    def test_adding(self, student):
        """A model that adds up all it reads says 1, 2, 4, 8, 6, and then 2 once more."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 6}
        with shown(
            "Does the model read the article and every word so far, and may a word come twice?", model=ADDING, **given
        ):
            equal(student.greedy_summary(adding(), *given.values()), [1, 2, 4, 8, 6, 2], "the summary")
        given["article_ids"] = [4, 3]
        with shown("What does your code keep from one call to the next?", model=ADDING, **given):
            equal(student.greedy_summary(adding(), *given.values()), [2, 4, 8, 6, 2, 4], "the summary")

    def test_end_in_the_article(self, student):
        """The end's number may stand in the article, [4, 9]: the summary is still [6, 7, 8]."""
        given = {"article_ids": [4, 9], "separator_id": 5, "end_id": 9, "max_new_tokens": 20}
        with shown("Which token is compared with the end: the one just said, or any?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [6, 7, 8], "the summary")

    def test_the_same_word_again(self, student):
        """A model that adds, with article [5, 0] and separator 5: it says 0, and 0 again."""
        given = {"article_ids": [5, 0], "separator_id": 5, "end_id": 9, "max_new_tokens": 3}
        question = "May a word come twice, one after the other?"
        with shown(question, model=ADDING, **given):
            got = student.greedy_summary(adding(), *given.values())
        if isinstance(got, list) and not got:
            question = "What ends your summary? Is 0 a word like any other?"
        with shown(question, model=ADDING, **given):
            equal(got, [0, 0, 0], "the summary")

    def test_separator_in_the_summary(self, student):
        """A model that adds, with article [5, 2] and separator 4: it says 1, 2, the separator, and goes on."""
        given = {"article_ids": [5, 2], "separator_id": 4, "end_id": 9, "max_new_tokens": 6}
        with shown("Which token ends a summary: the end, or the separator, too?", model=ADDING, **given):
            equal(student.greedy_summary(adding(), *given.values()), [1, 2, 4, 8, 6, 2], "the summary")

    def test_many_words(self, student):
        """A vocabulary of 1000, and an article of 80 words."""
        given = {"article_ids": [300], "separator_id": 500, "end_id": 503, "max_new_tokens": 20}
        with shown("How do you compare two numbers: with ==, or with is?", **given):
            equal(student.greedy_summary(counting(1000), *given.values()), [501, 502], "the summary")
        with shown("Does the model read the whole article?", model=ADDING, article_ids="80 times 1", separator_id=5):
            equal(student.greedy_summary(adding(), [1] * 80, 5, 9, 2), [5, 0], "the summary")

    def test_list_left_alone(self, student):
        """The article is as before."""
        with shown("Which line makes a list longer, and is it a list of your own?", article_ids=[4, 2]):
            unchanged(student.greedy_summary.inputs_after(counting(), [4, 2], 5, 9, 20)[1], [4, 2], "article_ids")
