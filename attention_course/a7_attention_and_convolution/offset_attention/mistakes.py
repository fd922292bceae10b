"""Known mistakes of offset_attention."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import ALIKE, BANDS, ENDS, MIRRORED, SOFT, WORDS, filled, from_the_end, nearest, shifted, wrapped

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("offset-of-the-wrong-sign", hint="For offset 1, does the first word look at the second, or the second back?")
def offset_attention(length, offset):
    return np.eye(length, k=-offset)


@mistake("all-up-to-the-offset", hint="How many keys does a tap listen to: one, or all up to its place?")
def offset_attention(length, offset):
    allowed = np.tri(length, k=offset)
    return allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1)


@mistake("one-place-for-all", hint="Does every query look at the same key, or at the one next to itself?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    if abs(offset) < length:
        weights[:, offset] = 1
    return weights


@mistake("offset-unused", hint="What changes in your weights when the offset does?")
def offset_attention(length, offset):
    weights = np.eye(length)
    weights[: max(0, -offset)] = 0
    weights[max(0, length - offset) :] = 0
    return weights


@mistake("negative-index", hint="In Python, which column is weights[0, -1]? And which one is past the end?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    for i in range(length):
        weights[i, i + offset] = 1
    return weights


@mistake("past-the-end-only", hint="Which keys lie outside: only those past the end?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    for i in range(length):
        if i + offset < length:
            weights[i, i + offset] = 1
    return weights


@mistake("truth-values", hint="Which dtype has your table: are those numbers that values can be multiplied with?")
def offset_attention(length, offset):
    place = np.arange(length)
    return place == place[:, None] + offset


@mistake.mutants(
    {
        "offset-of-the-wrong-sign": [{"sign": -1}],
        "one-further": mistake.known({"more": 1}, hint="Try offset 0: which word should each word look at?"),
        "one-back": mistake.known({"more": -1}, hint="Try offset 0: which word should each word look at?"),
        "offset-shifted": mistake.mutant(
            *[{"more": more} for more in (2, -2, 3, -3)], hint="Try offset 0: which word should each word look at?"
        ),
        "offset-doubled": mistake.mutant(
            {"sign": 2}, hint="How far does a query look at offset 1, and how far at offset 2?"
        ),
        "wraps-around": mistake.known(
            {"reach": wrapped}, hint="Whom does the first word look at when it looks back? Is the sentence a circle?"
        ),
        "clipped-at-the-border": mistake.known(
            {"reach": nearest}, hint="The key would stand outside. Does the last word that there is take its place?"
        ),
        "mirrored-at-the-border": MIRRORED,
        "past-the-end-only": [{"reach": from_the_end}],
        "evened-out-at-the-border": mistake.known(
            {"reach": filled(lambda length: 1 / length)},
            hint="A row with nothing to attend to: does it have to sum to 1?",
        ),
        "itself-at-the-border": [{"reach": filled(np.eye)}],
        "softmax-taken": SOFT,
        "every-key-alike": ALIKE,
        "all-up-to-the-offset": BANDS,
        "stops-at-a-length": mistake.known(*ENDS),
        "first-word-at-the-border": mistake.mutant(
            {"reach": filled(lambda length: np.eye(length)[0])},
            hint="A query whose key lies outside: does it look at another word in its place?",
        ),
        "offset-without-its-sign": mistake.mutant(
            {"of": abs}, {"of": lambda offset: -abs(offset)}, hint="Is offset -2 the same as 2?"
        ),
        "last-key-missing": mistake.mutant(
            {"end": lambda weights: np.pad(weights[:, :-1], ((0, 0), (0, 1)))},
            hint="May a query look at the last word? Where does your comparison end?",
        ),
        "first-key-missing": mistake.mutant(
            {"end": lambda weights: np.pad(weights[:, 1:], ((0, 0), (1, 0)))},
            hint="May a query look at the first word? Where does your comparison begin?",
        ),
        "both-sides": mistake.mutant(
            {"end": lambda weights: np.maximum(weights, weights.T)},
            hint="With offset 1, how many keys may a query look at?",
        ),
    },
    hints=WORDS,
)
def offset_attention(sign=1, more=0, reach=shifted, end=lambda weights: weights, of=lambda offset: offset):
    return lambda length, offset: end(reach(length, sign * of(offset) + more))
