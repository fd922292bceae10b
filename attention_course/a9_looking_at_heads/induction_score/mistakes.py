"""Known mistakes of induction_score."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import ENDS, FEW, FEW_WORDS, HINTS, mean, over_all, picked

mistake = Catalogue()


@mistake(
    "the-word-before-it", hint="What comes next is asked. On which side of the earlier word does the answer stand?"
)
def induction_score(weights, period):
    query = np.arange(period + 1, weights.shape[-1])
    return weights[:, query, query - period - 1].mean(axis=-1)


@mistake("the-word-before-the-query", hint="In which round does the word stand that is to be copied?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return weights[:, query, query - 1].mean(axis=-1)


@mistake("starts-too-late", hint="Which is the first word that has come before: number period, or the one after it?")
def induction_score(weights, period):
    query = np.arange(min(period + 1, weights.shape[-1] - 1), weights.shape[-1])
    return weights[:, query, query - period + 1].mean(axis=-1)


@mistake("ends-too-early", hint="Which is the last query? Does the head look for something there, too?")
def induction_score(weights, period):
    query = np.arange(period, max(period + 1, weights.shape[-1] - 1))
    return weights[:, query, query - period + 1].mean(axis=-1)


@mistake("counted-not-weighed", hint="A head may look there with half its weight. Is that a yes or a no, or a number?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return (weights[:, query].argmax(axis=-1) == query - period + 1).mean(axis=-1).astype(weights.dtype)


@mistake("same-word-or-the-next", hint="On how many keys does a head put its weight that knows what comes next?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return (weights[:, query, query - period] + weights[:, query, query - period + 1]).mean(axis=-1)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return [float(head[query, query - period + 1].mean()) for head in weights]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def induction_score(weights, period):
    query = np.arange(period, weights.shape[-1])
    return weights[:, query, query - period + 1].mean(axis=-1).astype(np.float64)


@mistake.mutants(
    {
        **ENDS,
        "stops-at-a-length": mistake.known(*({"most": limit} for limit in (20, *FEW_WORDS))),
        "the-same-word": mistake.known(
            {"ahead": 0}, hint="There stands the word that the head has met again. Which word does it want to know?"
        ),
        "the-word-before-it": [{"ahead": -1}],
        "two-words-after": mistake.known({"ahead": 2}, hint="How far after the earlier word does the answer stand?"),
        "divided-by-the-period": mistake.known(
            {"divided": lambda L, period: period},
            hint="The text may end before the second round does. By how many do you divide?",
        ),
        "divided-by-all-words": mistake.known(
            {"divided": lambda L, period: L},
            hint="How many queries are in the second round? By how many do you divide?",
        ),
        "starts-too-late": [{"start": 1}],
        "starts-too-early": mistake.known(
            {"start": -1}, hint="Word number period - 1 is in which round? Has it been met before?"
        ),
        "ends-too-early": [{"stop": -1}],
        "first-round-counted": mistake.known(
            {"whole": True}, hint="What is weights[:, 0, 1 - period]? Has word 0 been met before?"
        ),
        "one-query-only": mistake.known(
            {"end": lambda x: x[:, 0]},
            {"end": lambda x: x[:, -1]},
            hint="How many words are in the second round? Does each of them count in yours?",
        ),
        "key-wraps-round": mistake.mutant(
            {"wraps": True}, hint="Which word comes after the last one of the first round, and at which place is it?"
        ),
        "all-of-the-first-round": mistake.mutant(
            {"all_of_it": True},
            hint="Which word of the first round is looked for: any, or the one after the same word?",
        ),
        "half-the-text": mistake.known(
            {"length": lambda L, period: L // 2},
            hint="Where does the second round begin if the text ends before that round does?",
        ),
    },
    hints=HINTS
    | FEW
    | {
        "sum-for-mean": "A head that always looks there has score 1. Which score has it in yours?",
        "head-0-for-all": "Whose weights are in the score of head 1?",
        "largest-for-mean": "Does one word that looks there make a head that always does?",
    },
    catalogued=(
        "sum-for-mean",
        "rows-and-columns-swapped",
        "one-number-for-all-heads",
        "head-0-for-all",
        "largest-for-mean",
    ),
)
def induction_score(ahead=1, divided=None, start=0, stop=0, whole=False, end=mean, heads=lambda x: x, turned=False,
                    length=lambda L, period: period, all_of_it=False, axes=None, most=None, wraps=False):  # fmt: skip
    end = over_all if end == "all entries" else end

    def score(weights, period):
        L = weights.shape[-1]
        if axes is not None:
            return np.diagonal(weights, 1 - period, *axes).mean(axis=-1)
        period = length(L, period)
        if all_of_it:
            return weights[:, period:, :period].sum(axis=-1).mean(axis=-1)
        query = np.arange(0 if whole else period + start, L + stop)[:most]
        key = query - period + ahead
        found = picked(weights, query, key % period if wraps else key, turned)
        if divided is not None:
            return heads(found.sum(axis=-1) / divided(L, period))
        return heads(end(found) / (L**2 if end is over_all else 1))

    return score
