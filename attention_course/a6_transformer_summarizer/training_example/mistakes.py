"""Known mistakes of training_example."""

from autograder.testing import Catalogue

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


@mistake.mutants(
    {
        "loss-on-the-article-too": mistake.known(
            {"first": -(10**6)}, hint="Which of these words does the model get, and which has it to write?"
        ),
        "separator-counted": mistake.known(
            {"first": 0}, hint="Who writes the separator: the model, or the one who asks it for a summary?"
        ),
        "first-word-not-counted": mistake.mutant(
            {"first": 2}, hint="Who is to learn to write the first word of the summary?"
        ),
        "end-not-counted": mistake.known(
            {"last": -1}, hint="From which token is the model to learn when its summary is over?"
        ),
        "loss-mask-inverted": mistake.known({"inverted": True}),
        "counted-by-word": mistake.known(
            {"counts": lambda i, token, a, s, sep: token in s or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token not in {*a, sep}},
            {"counts": lambda i, token, a, s, sep: token not in a and i > len(a)},
            {"counts": lambda i, token, a, s, sep: token not in a or i > len(a) + len(s)},
            {"counts": lambda i, token, a, s, sep: token in s},
            hint="A word may stand in the article and in the summary. Do you ask for its place, or its id?",
        ),
        "article-cut": mistake.known(
            *[{"most": (most, None)} for most in (64, 16, 32, 128, 50, 100)],
            hint="How many of seventy words of an article are in your token_ids?",
        ),
        "summary-cut": mistake.known(
            *[{"most": (None, most)} for most in (16, 8, 32, 10, 20)],
            hint="How many of thirty-three words of a summary are in your token_ids?",
        ),
        "mask-without-its-first": mistake.mutant(
            {"whole": lambda mask: mask[1:]}, hint="Does each token id have its entry in the mask, the first one, too?"
        ),
        "separator-on-both-sides": mistake.mutant(
            {"ids": lambda a, s, sep, end: [sep, *a, sep, *s, end], "first": 2},
            hint="How many separators does a text have, and where?",
        ),
        "end-missing": mistake.known(
            {"ids": lambda a, s, sep, end: [*a, sep, *s]}, hint="What comes after the last word of the summary?"
        ),
        "separator-missing": mistake.known(
            {"ids": lambda a, s, sep, end: [*a, *s, end], "first": 0},
            hint="How is the model to see where the article ends?",
        ),
        "article-with-an-end": mistake.mutant(
            {"ids": lambda a, s, sep, end: [*a, end, sep, *s, end], "first": 2},
            hint="How often does a text say that it is over?",
        ),
        "article-backwards": mistake.mutant(
            {"ids": lambda a, s, sep, end: [*a[::-1], sep, *s, end]},
            hint="In which order does the model read the article?",
        ),
        "summary-backwards": mistake.mutant(
            {"ids": lambda a, s, sep, end: [*a, sep, *s[::-1], end]},
            hint="In which order is the model to write the summary?",
        ),
        "summary-first": [{"ids": lambda a, s, sep, end: [*s, sep, *a, end]}],
        "marks-swapped": mistake.known(
            {"ids": lambda a, s, sep, end: [*a, end, *s, sep]},
            hint="Which of the two marks stands between article and summary?",
        ),
    },
    hints=WORDS,
)
def training_example(
    ids=lambda a, s, sep, end: [*a, sep, *s, end], first=1, last=0, inverted=False, counts=None,
    whole=lambda mask: mask, most=(None, None),
):  # fmt: skip
    def example(article_ids, summary_ids, separator_id, end_id):
        article_ids, summary_ids = article_ids[: most[0]], summary_ids[: most[1]]
        token_ids = ids(article_ids, summary_ids, separator_id, end_id)
        begin = len(article_ids) + first
        mask = [begin <= i < len(token_ids) + last for i in range(len(token_ids))]
        if counts is not None:
            mask = [counts(i, token, article_ids, summary_ids, separator_id) for i, token in enumerate(token_ids)]
        return token_ids, whole([not counted for counted in mask] if inverted else mask)

    return example
