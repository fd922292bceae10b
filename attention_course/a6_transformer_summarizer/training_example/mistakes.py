"""Known mistakes of training_example."""

from autograder.suites import Catalogue

from ..shared_mistakes import WORDS

mistake = Catalogue()


@mistake("summary-first", hint="What does the model read before it writes?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*summary_ids, separator_id, *article_ids, end_id]
    return token_ids, [False] * (len(summary_ids) + 1) + [True] * (len(article_ids) + 1)


@mistake(
    "mask-at-the-predicting-places", hint="Does the mask stand at a word, or at the place from which it is guessed?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [False] * len(article_ids) + [True] * (len(summary_ids) + 1) + [False]


@mistake(
    "mask-of-numbers", hint="For a mask, what is the difference between a list of 0 and 1 and one of False and True?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = [*article_ids, separator_id, *summary_ids, end_id]
    return token_ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)


@mistake(
    "article-changed", hint="Print article_ids before and after the call. Which of your lines makes that list longer?"
)
def training_example(article_ids, summary_ids, separator_id, end_id):
    given = len(article_ids) + 1
    article_ids += [separator_id, *summary_ids, end_id]
    return article_ids, [False] * given + [True] * (len(article_ids) - given)


@mistake("lists-nested", hint="Print token_ids. Is each of its entries a number?")
def training_example(article_ids, summary_ids, separator_id, end_id):
    token_ids = list(article_ids)
    token_ids.append(separator_id)
    token_ids.append(summary_ids)
    token_ids.append(end_id)
    return token_ids, [False] * (len(article_ids) + 1) + [True] * (len(summary_ids) + 1)


@mistake.recipe(
    {
        "loss-on-the-article-too": [{"first": -(10**6)}],
        "separator-counted": [{"first": 0}],
        "first-word-not-counted": [{"first": 2}],
        "end-not-counted": [{"last": -1}],
        "loss-mask-inverted": [{"inverted": True}],
        "counted-by-word": [
            {"counts": lambda i, token, a, s, sep: token in s or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token not in {*a, sep}},
            {"counts": lambda i, token, a, s, sep: token not in a and i > len(a)},
            {"counts": lambda i, token, a, s, sep: token not in a or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token in s},
        ],
        "mask-without-its-first": [{"whole": lambda mask: mask[1:]}],
        "separator-on-both-sides": [{"ids": lambda a, s, sep, end: [sep, *a, sep, *s, end], "first": 2}],
        "end-missing": [{"ids": lambda a, s, sep, end: [*a, sep, *s]}],
        "separator-missing": [{"ids": lambda a, s, sep, end: [*a, *s, end], "first": 0}],
        "article-with-an-end": [{"ids": lambda a, s, sep, end: [*a, end, sep, *s, end], "first": 2}],
        "article-backwards": [{"ids": lambda a, s, sep, end: [*a[::-1], sep, *s, end]}],
        "summary-backwards": [{"ids": lambda a, s, sep, end: [*a, sep, *s[::-1], end]}],
        "summary-first": [{"ids": lambda a, s, sep, end: [*s, sep, *a, end]}],
        "marks-swapped": [{"ids": lambda a, s, sep, end: [*a, end, *s, sep]}],
    },
    hints=WORDS | {
        "article-with-an-end": "How often does a text say that it is over?",
        "article-backwards": "In which order does the model read the article?",
        "summary-backwards": "In which order is the model to write the summary?",
        "mask-without-its-first": "Does each token id have its entry in the mask, the first one, too?",
        "separator-on-both-sides": "How many separators does a text have, and where?",
        "first-word-not-counted": "Who is to learn to write the first word of the summary?",
        "loss-on-the-article-too": "Which of these words does the model get, and which has it to write?",
        "counted-by-word": "A word may stand in the article and in the summary. Do you ask for its place, or its id?",
        "separator-counted": "Who writes the separator: the model, or the one who asks it for a summary?",
        "end-not-counted": "From which token is the model to learn when its summary is over?",
        "end-missing": "What comes after the last word of the summary?",
        "separator-missing": "How is the model to see where the article ends?",
        "marks-swapped": "Which of the two marks stands between article and summary?",
    },
    held=(
        "loss-on-the-article-too", "separator-counted", "end-not-counted", "end-missing", "separator-missing",
        "marks-swapped", "loss-mask-inverted", "counted-by-word",
    ),
)  # fmt: skip
def training_example(
    ids=lambda a, s, sep, end: [*a, sep, *s, end], first=1, last=0, inverted=False, counts=None,
    whole=lambda mask: mask,
):  # fmt: skip
    def example(article_ids, summary_ids, separator_id, end_id):
        token_ids = ids(article_ids, summary_ids, separator_id, end_id)
        begin = len(article_ids) + first
        mask = [begin <= i < len(token_ids) + last for i in range(len(token_ids))]
        if counts is not None:
            mask = [counts(i, token, article_ids, summary_ids, separator_id) for i, token in enumerate(token_ids)]
        return token_ids, whole([not counted for counted in mask] if inverted else mask)

    return example
