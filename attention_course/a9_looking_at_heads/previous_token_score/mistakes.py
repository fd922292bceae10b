"""Known mistakes of previous_token_score."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import ENDS, FEW, FEW_WORDS, HINTS, mean, over_all, picked

mistake = Catalogue()


@mistake("the-word-itself", hint="Row 2 of the weights is the third word's. In which column stands the word before it?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=0, axis1=-2, axis2=-1).mean(axis=-1)


@mistake("two-words-back", hint="Row 2 of the weights is the third word's. In which column stands the word before it?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=-2, axis1=-2, axis2=-1).mean(axis=-1)


@mistake("first-word-counted", hint="The first word has no word before it. What does its row do in your mean?")
def previous_token_score(weights):
    return (np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).sum(axis=-1) + weights[:, 0, 0]) / weights.shape[-1]


@mistake("counted-not-weighed", hint="A head may look there with half its weight. Is that a yes or a no, or a number?")
def previous_token_score(weights):
    L = weights.shape[-1]
    return (weights.argmax(axis=-1)[:, 1:] == np.arange(L - 1)).mean(axis=-1).astype(weights.dtype)


@mistake("first-word-for-previous", hint="Is it the word before that each word looks at here, or always the same word?")
def previous_token_score(weights):
    return weights[:, 1:, 0].mean(axis=-1)


@mistake("all-words-before", hint="How many keys does the score of one query look at?")
def previous_token_score(weights):
    return np.tril(weights, -1).sum(axis=(-2, -1)) / (weights.shape[-1] - 1)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def previous_token_score(weights):
    return [float(head.mean()) for head in np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def previous_token_score(weights):
    return np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).mean(axis=-1).astype(np.float64)


@mistake.mutants(
    {
        **ENDS,
        "stops-at-a-length": mistake.known(*({"most": limit} for limit in FEW_WORDS)),
        "the-word-itself": [{"back": 0}],
        "two-words-back": [{"back": 2}],
        "divided-by-all-words": mistake.known(
            {"end": lambda x: x.sum(axis=-1) / (x.shape[-1] + 1)},
            hint="How many words have a word before them? By how many do you divide?",
        ),
        "one-query-too-few": mistake.known(
            {"stop": -1}, hint="Which is the first query that counts, and which the last?"
        ),
        "starts-too-late": mistake.known({"start": 2}),
        "negative-index": mistake.known(
            {"start": 0}, hint="What is weights[:, 0, -1]? Is that a word before the first?"
        ),
        "one-query-only": mistake.known(
            {"end": lambda x: x[:, -1]},
            {"end": lambda x: x[:, 0]},
            hint="How many words have a word before them? Does each of them count in yours?",
        ),
    },
    hints=HINTS
    | FEW
    | {
        "sum-for-mean": "A head that always looks at the word before has score 1. Which score has it in yours?",
        "head-0-for-all": "Whose weights are in the score of head 1?",
        "largest-for-mean": "Does one word that looks back make a head that always does?",
    },
    catalogued=(
        "rows-and-columns-swapped",
        "sum-for-mean",
        "one-number-for-all-heads",
        "head-0-for-all",
        "largest-for-mean",
    ),
)
def previous_token_score(back=1, start=1, stop=0, end=mean, heads=lambda x: x, turned=False, axes=None, most=None):
    end = over_all if end == "all entries" else end

    def score(weights):
        if axes is not None:
            return np.diagonal(weights, -1, *axes).mean(axis=-1)
        query = np.arange(start, weights.shape[-1] + stop)[:most]
        found = picked(weights, query, query - back, turned)
        return heads(end(found) / (weights.shape[-1] ** 2 if end is over_all else 1))

    return score
