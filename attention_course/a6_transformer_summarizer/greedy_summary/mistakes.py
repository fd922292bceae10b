"""Known mistakes of greedy_summary."""

import torch

from autograder.testing import Catalogue

from ..shared_mistakes import CONTEXTS, WORDS, logits_of

mistake = Catalogue()


def _next(model, token_ids):
    return int(logits_of(model, token_ids)[-1].argmax())


@mistake("end-left-out-and-on", hint="After the end, does your loop stop, or does it go on without it?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token_ids.append(_next(model, token_ids))
    return [token for token in token_ids[len(article_ids) + 1 :] if token != end_id]


@mistake("max_new_tokens-ignored", hint="What ends your loop when the model never says end?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    while (token := _next(model, [*article_ids, separator_id, *summary])) != end_id:
        summary.append(token)
    return summary


@mistake("any-end-ends-it", hint="An article may hold the end's number, too. Where does your loop look for it?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = [*article_ids, separator_id]
    while end_id not in token_ids and len(token_ids) < len(article_ids) + 1 + max_new_tokens:
        token_ids.append(_next(model, token_ids))
    return [token for token in token_ids[len(article_ids) + 1 :] if token != end_id]


@mistake("separator-before-every-word", hint="How many separators does the model read when it writes the third word?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, *summary, separator_id])
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake("end-for-separator", hint="Which of the two marks stands between article and summary?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, end_id, *summary])
        if token == separator_id:
            break
        summary.append(token)
    return summary


@mistake("only-the-last-word-read", hint="What does the model read when it writes the second word: all, or one word?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary, token_ids = [], [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        summary.append(token)
        token_ids = [token]
    return summary


@mistake(
    "article-forgotten", hint="Print what the model reads for each word that it writes. Where in it is the article?"
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary, token_ids = [], [*article_ids, separator_id]
    for _ in range(max_new_tokens):
        token = _next(model, token_ids)
        if token == end_id:
            break
        summary.append(token)
        token_ids = [separator_id, *summary]
    return summary


@mistake("all-at-once", hint="One look at the article gives logits at every place. Are those the words of a summary?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    words = logits_of(model, [*article_ids, separator_id]).argmax(dim=-1).tolist()
    return words[words.index(end_id) + 1 :][:max_new_tokens] if end_id in words else words[:max_new_tokens]


@mistake("written-backwards", hint="At which end of the summary does the next word belong?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = _next(model, [*article_ids, separator_id, *summary])
        if token == end_id:
            break
        summary.insert(0, token)
    return summary


@mistake("repeated-words-left-out", hint="May a word stand in the summary, if it stands there already?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        logits = logits_of(model, [*article_ids, separator_id, *summary])[-1].clone()
        logits[summary] = -torch.inf
        token = int(logits.argmax())
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake(
    "article-changed", hint="Print article_ids before and after the call. Which of your lines makes that list longer?"
)
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    given = len(article_ids) + 1
    article_ids.append(separator_id)
    for _ in range(max_new_tokens):
        token = _next(model, article_ids)
        if token == end_id:
            break
        article_ids.append(token)
    return article_ids[given:]


@mistake("tensor-instead-of-list", hint="What kind of value does the exercise ask for?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    token_ids = torch.tensor([[*article_ids, separator_id]])
    for _ in range(max_new_tokens):
        with torch.no_grad():
            token = model(token_ids)[:, -1].argmax(-1, keepdim=True)
        if token.item() == end_id:
            break
        token_ids = torch.cat([token_ids, token], dim=1)
    return token_ids[0, len(article_ids) + 1 :]


@mistake("least-likely", hint="Has the likeliest word the largest logit or the smallest?")
def greedy_summary(model, article_ids, separator_id, end_id, max_new_tokens):
    summary = []
    for _ in range(max_new_tokens):
        token = int(logits_of(model, [*article_ids, separator_id, *summary])[-1].argmin())
        if token == end_id:
            break
        summary.append(token)
    return summary


@mistake.mutants(
    {
        "end-returned": mistake.known(
            {"with_end": True}, hint="The end says that the summary is over. Is it a word of it?"
        ),
        "never-stops-at-the-end": mistake.known(
            {"stop": lambda token, separator, end: False}, hint="What does your loop do when the model says end?"
        ),
        "separator-for-end": mistake.mutant(
            {"stop": lambda token, separator, end: token == separator}, hint="Which id ends the summary?"
        ),
        "stops-at-the-separator-too": mistake.mutant(
            {"stop": lambda token, separator, end: token in (separator, end)}, hint="Which id ends the summary?"
        ),
        "stops-at-a-word-it-has-written": mistake.mutant(
            {"over": lambda token, words, article, most: token in words},
            {"over": lambda token, words, article, most: words[-1:] == [token]},
            hint="May a summary say a word twice? What does your code do then?",
        ),
        "stops-at-a-word-of-the-article": mistake.mutant(
            {"over": lambda token, words, article, most: token in article},
            hint="May a summary say a word of the article? What does your code do then?",
        ),
        "stops-where-the-article-is-as-long": mistake.mutant(
            {"over": lambda token, words, article, most: len(words) >= len(article)},
            hint="May a summary be longer than its article? What ends yours?",
        ),
        "the-given-counts-as-new": mistake.known(
            {"over": lambda token, words, article, most: len(article) + 1 + len(words) >= most},
            {"over": lambda token, words, article, most: len(article) + len(words) >= most},
            hint="Which words are new: does the article count towards max_new_tokens?",
        ),
        "end-compared-by-identity": mistake.known(
            {"stop": lambda token, separator, end: token is end},
            hint="What does `is` compare, and are two ints of the same value one object?",
        ),
        "one-token-too-many": mistake.known(
            {"more": 1}, hint="With max_new_tokens=1, how often does your loop go round?"
        ),
        "one-token-too-few": mistake.known(
            {"more": -1}, hint="With max_new_tokens=1, how often does your loop go round?"
        ),
        "prompt-returned-too": mistake.known(
            {"back": lambda article, separator, words: [*article, separator, *words]},
            hint="Which part of the text did the model write?",
        ),
        "separator-returned-too": mistake.known(
            {"back": lambda article, separator, words: [separator, *words]},
            hint="Where does the summary begin: at the separator, or after it?",
        ),
        "first-word-lost": mistake.known(
            {"back": lambda article, separator, words: words[1:]},
            hint="Is the first word that the model says part of the summary?",
        ),
        "last-word-lost": mistake.mutant(
            {"back": lambda article, separator, words: words[:-1]},
            hint="Is the last word of your list a word of the summary?",
        ),
        "repeated-words-taken-out": mistake.mutant(
            {"back": lambda article, separator, words: list(dict.fromkeys(words))},
            hint="May a summary say a word twice? What does your code do then?",
        ),
        "written-backwards": [{"back": lambda article, separator, words: words[::-1]}],
        "separator-forgotten": mistake.known(
            {"read": lambda article, separator, words: [*article, *words]},
            hint="How does the model know that the article is over?",
        ),
        "separator-last": mistake.mutant(
            {"read": lambda article, separator, words: [*article, *words, separator]},
            hint="Where does the separator stand once the first word is written?",
        ),
        "separator-first": mistake.known(
            {"read": lambda article, separator, words: [separator, *article, *words]},
            hint="In the examples that the model learned from, where did the separator stand?",
        ),
        "own-words-not-read": mistake.known(
            {"read": lambda article, separator, words: [*article, separator]},
            hint="What does the model read when it writes the second word? Has anything changed?",
        ),
        "article-forgotten": [{"read": lambda article, separator, words: [separator, *words]}],
        "only-the-last-word-read": [{"read": lambda article, separator, words: [*article, separator, *words][-1:]}],
        "context-cut": mistake.known(
            *[
                {"read": lambda article, separator, words, most=most: [*article, separator, *words][-most:]}
                for most in CONTEXTS
            ]
        ),
    },
    hints=WORDS,
)
def greedy_summary(
    stop=lambda token, separator, end: token == end, more=0, with_end=False,
    back=lambda article, separator, words: words,
    read=lambda article, separator, words: [*article, separator, *words],
    over=lambda token, words, article, most: False,
):  # fmt: skip
    def summary(model, article_ids, separator_id, end_id, max_new_tokens):
        words = []
        for _ in range(max_new_tokens + more):
            token = _next(model, read(article_ids, separator_id, words))
            if stop(token, separator_id, end_id):
                words += [token] if with_end else []
                break
            if over(token, words, article_ids, max_new_tokens):
                break
            words.append(token)
        return back(article_ids, separator_id, words)

    return summary
