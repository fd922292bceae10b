"""What the known mistakes of a7 share: hints, wrong ways to look at an offset, and wrong orders of taps."""

import numpy as np

from ..hidden.size_options import LENGTHS, cut


def rule(k):
    return [j - (k - 1) // 2 for j in range(k)]


def shifted(length, offset):
    return np.eye(length, k=offset)


def wrapped(length, offset):
    return np.roll(np.eye(length), offset, axis=1)


def nearest(length, offset):
    return np.eye(length)[np.clip(np.arange(length) + offset, 0, length - 1)]


def mirrored(length, offset):
    key = np.abs(np.arange(length) + offset)
    key = np.where(key > length - 1, 2 * (length - 1) - key, key)
    return (key[:, None] == np.arange(length)).astype(float)


def mirrored_with_the_last(length, offset):
    """Mirrored so that the word at the border appears twice."""
    key = (np.arange(length) + offset) % (2 * length)
    return np.eye(length)[np.where(key < length, key, 2 * length - 1 - key)]


def from_the_end(length, offset):
    """Keys before the first word count from the end; keys after the last word are left out."""
    key = np.arange(length)[:, None] + offset
    return ((key == np.arange(length)) | (key + length == np.arange(length))).astype(float)


def filled(what):
    """A row without a key is replaced by `what(length)`."""

    def reach(length, offset):
        weights = np.eye(length, k=offset)
        return np.where(weights.any(axis=1, keepdims=True), weights, what(length))

    return reach


def softmaxed(sharp):
    def reach(length, offset):
        exps = np.exp(sharp * np.eye(length, k=offset))
        return exps / exps.sum(axis=1, keepdims=True)

    return reach


def softened(sharp):
    """A softmax over the negative squared distance from the key that is asked for."""

    def reach(length, offset):
        place = np.arange(length)
        exps = np.exp(-sharp * (place - place[:, None] - offset) ** 2.0)
        return exps / np.maximum(exps.sum(axis=1, keepdims=True), 1e-300)

    return reach


def alike(each):
    """Every query attends to every key."""
    return lambda length, offset: np.ones((length, length)) * each(length)


def band(low, high, shares=False):
    """All keys from `low` to `high` places away, each with a weight of 1 or an equal share of it."""

    def reach(length, offset):
        place = np.arange(length)
        way = place - place[:, None]
        weights = ((way >= low(offset)) & (way <= high(offset))).astype(float)
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1) if shares else weights

    return reach


def up_to(after, axis):
    """No weights behind the first `after` queries or keys."""
    return lambda length, offset: cut(np.eye(length, k=offset), axis, after)


SOFT = [{"reach": soft(sharp)} for soft in (softmaxed, softened) for sharp in (1, 2, 5, 10, 100)]
ALIKE = [{"reach": alike(lambda length: 1.0)}, {"reach": alike(lambda length: 1 / length)}]
BANDS = [
    {"reach": band(low, high, shares)}
    for shares in (False, True)
    for low, high in (
        (lambda o: -np.inf, lambda o: o),
        (lambda o: min(o, 0), lambda o: max(o, 0)),
        (lambda o: -abs(o), abs),
        (lambda o: o - 1, lambda o: o + 1),
        (lambda o: o, lambda o: np.inf),
    )
]
ENDS = [{"reach": up_to(after, axis)} for after in LENGTHS for axis in (-2, -1)]
MIRRORED = [{"reach": mirrored}, {"reach": mirrored_with_the_last}]

ORDERS = {
    "kernel-flipped": [{"order": -1}],
    "offsets-from-0": [{"before": lambda k: 0}],
    "looks-back-only": [{"before": lambda k: k - 1}],
    "even-off-by-one": [{"before": lambda k: k // 2}],
    "one-further": [{"before": lambda k: (k - 1) // 2 - 1}],
    "one-back": [{"before": lambda k: (k - 1) // 2 + 1}],
}
# Hints that several exercises use.
WORDS = {
    "one-further": "Where does tap 0 of a kernel of 3 look: one place before the word?",
    "one-back": "Where does tap 0 of a kernel of 3 look: one place before the word?",
    "offset-of-the-wrong-sign": "Where does tap 0 of a kernel of 3 look: before the word, or behind it?",
    "one-tap-too-few": "Count your heads. How many taps has the kernel?",
    "mirrored-at-the-border": "The key would stand outside. Is the text a mirror, with its words once more behind it?",
    "past-the-end-only": "Which keys lie outside: only those past the end?",
    "itself-at-the-border": "A query whose key lies outside: does it look at itself in its place?",
    "every-key-alike": "How many keys does a query attend to in yours, and how many are asked for?",
    "all-up-to-the-offset": "How many keys does a tap listen to: one, or all up to its place?",
    "stops-at-a-length": "How long a text is your code made for? Try one of a hundred words.",
    "ones-for-the-identity": "What does a matrix of ones make of a row of numbers, and what should W_O make of it?",
    "softmax-taken": "How much weight has a key that is not the one asked for?",
    "offsets-from-0": "Of three taps, which one listens at the place itself: the first or the middle one?",
    "looks-back-only": "Of three taps, which one listens at the place itself: the last or the middle one?",
    "even-off-by-one": "Two taps have no middle. Which places does the table give them?",
    "heads-averaged": "Does a convolution add its taps up, or take their mean?",
    "kernel-flipped": "Tap 0 is the leftmost. Does it hear what stands to the left?",
}
