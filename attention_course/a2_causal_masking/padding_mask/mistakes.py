"""Known mistakes of padding_mask."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden.size_options import LENGTHS

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


@mistake("max_length-ignored", hint="How wide is each row where the longest text is shorter than max_length?")
def padding_mask(lengths, max_length):
    return np.arange(max(lengths)) < np.asarray(lengths)[:, None, None]


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


def _beyond(axis, size, says):
    """Every entry behind the first few places (axis -1) or texts (axis 0) has the same value."""

    def made(mask):
        place = np.arange(mask.shape[axis]).reshape([-1 if i == axis % 3 else 1 for i in range(3)])
        return np.where(place < size, mask, says)

    return {"end": made}


@mistake.mutants(
    {
        "stops-at-a-length": mistake.known(
            *(_beyond(axis, size, says) for size in LENGTHS for axis in (-1, 0) for says in (False, True)),
            hint="How long a text, and how many of them, is your mask made for? Try a hundred.",
        ),
        "one-text-loses-its-axis": [
            {"end": lambda mask: mask.squeeze(0) if len(mask) == 1 else mask},
            {"end": lambda mask: mask.squeeze()[:, None] if len(mask) > 1 else mask.squeeze()},
        ],
        "mask-off-by-one": mistake.known(
            {"more": 1},
            {"more": -1},
            {"start": 1},
            hint="A text of two words fills the places 0 and 1. To which places does your mask say yes?",
        ),
        # Two loops in one line, in the wrong order.
        "texts-in-the-columns": mistake.mutant(
            *({"end": lambda mask, axes=axes: mask.transpose(axes)} for axes in ((1, 2, 0), (2, 1, 0))),
            {"end": lambda mask: mask[:, 0].T},
            {"end": lambda mask: mask.transpose(2, 0, 1)},
            hint="Count the rows of your mask, and its columns. Which of them should be texts, and which places?",
        ),
        "first-text-only": mistake.mutant(
            _beyond(0, 1, False), hint="Which texts have a True in your mask? When is your loop left?"
        ),
        "axis-in-front": mistake.mutant(
            {"end": lambda mask: mask.swapaxes(0, 1)},
            hint="Scores have the axes text, query, key. Which of them has length one in your mask?",
        ),
    }
)
def padding_mask(more=0, start=0, end=lambda mask: mask):
    def mask(lengths, max_length):
        return end((np.arange(start, start + max_length) < np.asarray(lengths)[:, None] + more)[:, None, :])

    return mask


def _last_word_left_out(lengths, max_length):
    mask = np.zeros((len(lengths), 1, max_length), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, : n - 1] = True  # for n = 0, all but the last place
    return mask


@mistake.mutants({"mask-off-by-one": [{"code": _last_word_left_out}]})
def padding_mask(code):
    return code
