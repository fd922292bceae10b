"""Known mistakes of padding_mask."""

import numpy as np

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("mask-inverted", hint="In this course, does True stand for a real word or for padding?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) >= np.asarray(lengths)[:, None, None]


@mistake("missing-axis", hint="Scores have the axes text, query, key. Which of your mask's axes meets which of these?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) < np.asarray(lengths)[:, None]


@mistake("axis-at-the-end", hint="Which axis of the scores does the length-one axis stand for, and where is it?")
def padding_mask(lengths, max_length):
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, :, None]


@mistake("padding-in-front", hint="At which end of the text does the padding stand?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) >= max_length - np.asarray(lengths)[:, None, None]


@mistake("one-text-loses-its-axis", hint="How many axes has the mask for one text, and how many for two?")
def padding_mask(lengths, max_length):
    mask = np.arange(max_length) < np.asarray(lengths)[:, None, None]
    return mask[0] if len(mask) == 1 else mask


@mistake("lists-refused", hint="What can be done with an array between square brackets that a list does not know?")
def padding_mask(lengths, max_length):
    return np.arange(max_length) < lengths[:, None, None]


@mistake("negative-slice", hint="What does x[-n:] select where n is 0?")
def padding_mask(lengths, max_length):
    mask = np.ones((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, -(max_length - n) :] = False
    return mask


@mistake("not-boolean", hint="What is the dtype of your mask, and what does ~ make of it?")
def padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length))
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = 1
    return mask


@mistake.mutants(
    {
        "mask-off-by-one": mistake.known(
            {"more": 1},
            {"more": -1},
            hint="A text of two words fills the places 0 and 1. To which places does your mask say yes?",
        )
    }
)
def padding_mask(more=0):
    return lambda lengths, max_length: (np.arange(max_length) < np.asarray(lengths)[:, None] + more)[:, None, :]
