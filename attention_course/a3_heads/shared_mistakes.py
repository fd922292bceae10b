"""What the known mistakes of a3 share: hints, and wrong ways to split into heads and to join them."""

import numpy as np
import torch

from ..hidden.part_options import TIES, head_0, tied
from ..hidden.size_options import HEADS, LENGTHS, cut

WORDS = {
    "one-head-for-all": "Head 0 is there. From which columns is head 1 made?",
    "heads-tied": "Compare two neighbours among your heads. Should they be the same?",
    "one-big-head": "How many heads should there be, and how many does your code cut?",
    "stops-at-a-length": "How long a text is your code made for? Try one of a hundred tokens.",
    "some-heads-only": "How many heads is your code made for? Try eight of them.",
    "heads-and-width-exchanged": "Is num_heads how many heads there are, or how wide one of them is?",
    "heads-reversed": "Which columns stand in head 0: the first ones, or the last?",
    "heads-before-the-batch": "Which axis comes first in the docstring: the batch, or the heads?",
    "one-head-too-few": "Count the heads in your result. Where does your loop begin, and where does it end?",
    "heads-overlap": "Which columns does head 0 own, and which is the first column of head 1?",
    "width-from-the-rows": "How wide is one head's share of W? Which size of W tells you?",
    "heads-summed": "How wide is your result? What is lost when heads are added up?",
    "first-head-only": "Head 0 is there. Where do the others go?",
    "heads-below-each-other": "Side by side, or one below the other: which axis grows?",
    "weights-transposed": "In X @ own[0], which axis of own[0] meets the columns of X?",
    "batch-items-mixed": "In a batch of two texts, from which are the numbers of your first row?",
    "heads-after-tokens": "What should result[0] be: everything about the first token, or the first head?",
    "heads-averaged": "How wide is your result? What is lost when heads are added up?",
    "heads-interleaved": "Which columns does head 0 own: neighbours, or every h-th one?",
    "heads-transposed": "What stands in a row of your head 0: numbers of one token, or of one column?",
}
JOINED = WORDS | {
    "heads-interleaved": "In a row, do head 0's numbers stand together, or does each head take turns?",
    "wrong-axes-swapped": "Heads and widths are to become one axis. Which two axes does your line exchange, so that"
    " they are neighbours?",
    "reshaped-then-transposed": "What stands in a row before you turn it: the numbers of one token?",
    "tokens-joined": "One axis is gone, but which? Does your result still have a row for each token?",
}


def checked(x, h):
    if x.shape[-1] % h:
        raise ValueError("num_heads must divide d_model")
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


def backwards(x, axis):
    return np.flip(x, axis) if isinstance(x, np.ndarray) else torch.flip(x, (axis,))


def overlapping(x, h):
    """Each head begins one column after the previous one."""
    d = checked(x, h).shape[-1]
    return stacked([x[..., i : i + d] for i in range(h)])


def stacked(heads):
    return np.stack(heads, axis=-2) if isinstance(heads[0], np.ndarray) else torch.stack(heads, dim=-2)


def first(x, axis):
    return np.moveaxis(x, axis, 0) if isinstance(x, np.ndarray) else torch.movedim(x, axis, 0)


def cuts(axis, sizes):
    return [lambda heads, after=after: cut(heads, axis, after) for after in sizes]


SOME = {
    "stops-at-a-length": cuts(-2, LENGTHS),
    "some-heads-only": cuts(-3, HEADS),
}
TIED = {
    "one-head-for-all": [lambda heads: tied(heads, head_0)],
    "heads-tied": [lambda heads, tie=tie: tied(heads, tie) for tie in TIES],
}
CUTS = {
    **{name: [{"end": end} for end in ends] for name, ends in (SOME | TIED).items()},
    "one-big-head": [{"cut": lambda x, h: x[..., None, :] if checked(x, h) is not None else x}],
    "heads-and-width-exchanged": [
        {"cut": lambda x, h: checked(x, x.shape[-1] // h) if checked(x, h) is not None else x}
    ],
    # Wrong only if there are as many tokens as heads.
    "split-without-transpose": [{"place": lambda cut: cut if cut.shape[-3] == cut.shape[-2] else cut.swapaxes(-3, -2)}],
    "heads-interleaved": [
        {"cut": lambda x, h: checked(x, x.shape[-1] // h).swapaxes(-2, -1) if checked(x, h) is not None else x}
    ],
    "heads-reversed": [{"cut": lambda x, h: backwards(checked(x, h), -2)}],
    "heads-after-tokens": [{"place": lambda cut: cut}],
    "one-head-too-few": [{"end": lambda heads: heads[..., :-1, :, :]}, {"end": lambda heads: heads[..., 1:, :, :]}],
    "first-head-only": [{"end": lambda heads: heads[..., 0, :, :]}],
    "heads-overlap": [{"cut": overlapping}],
    "heads-transposed": [
        {"end": lambda heads: heads.swapaxes(-2, -1)},
        {"end": lambda heads: heads.swapaxes(-2, -1).reshape(heads.shape)},  # x.T.reshape(h, L, d)
    ],
    "heads-before-the-batch": [{"place": lambda cut: first(cut, -2)}],
}


def split_by(cut=checked, place=lambda cut: cut.swapaxes(-3, -2), end=lambda heads: heads):
    return lambda x, h: end(place(cut(x, h)))


def silenced(heads, i):
    heads = heads * 1
    heads[..., i, :, :] = 0
    return heads


def swapped(a, b, tokens_first=True):
    """Joins heads after the axes a and b were exchanged: to a row for each token, or only by making two axes one."""

    def join(heads):
        *batch, h, L, d = heads.shape
        return heads.swapaxes(a, b).reshape(*batch, *((L, h * d) if tokens_first else (h, L * d)))

    return {"join": join}


JOINS = {
    **{name: [{"some": some} for some in ways] for name, ways in (SOME | TIED).items()},
    "wrong-axes-swapped": [swapped(-2, -1), swapped(-3, -1), swapped(-2, -1, tokens_first=False)],
    "reshaped-then-transposed": [
        {"join": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-2]).swapaxes(-2, -1)}
    ],
    "tokens-joined": [swapped(-1, -1, tokens_first=False)],
    "concat-without-transpose": [{"square": True}],  # wrong only if there are as many tokens as heads
    "heads-summed": [{"join": lambda heads: heads.sum(-3)}],
    "heads-averaged": [
        {"join": lambda heads: heads.sum(-3) / heads.shape[-3]},
        {"some": lambda heads: 0 * heads + (heads.sum(-3) / heads.shape[-3])[..., None, :, :]},
    ],
    "first-head-only": [{"join": lambda heads: heads[..., 0, :, :]}],
    "one-head-too-few": [
        {"some": lambda heads: heads[..., :-1, :, :]},
        {"some": lambda heads: heads[..., 1:, :, :]},
        {"some": lambda heads: silenced(heads, 0)},
        {"some": lambda heads: silenced(heads, -1)},
    ],
    "heads-reversed": [{"some": lambda heads: backwards(heads, -3)}],
    "heads-interleaved": [{"turn": lambda tokens: tokens.swapaxes(-2, -1)}],
    "heads-below-each-other": [{"join": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])}],
}


def joined_by(some=lambda heads: heads, turn=lambda tokens: tokens, join=None, square=False):
    def joined(heads):
        heads = some(heads)
        if join is not None:
            return join(heads)
        as_it_is = square and heads.shape[-3] == heads.shape[-2]
        tokens = turn(heads if as_it_is else heads.swapaxes(-3, -2))
        return tokens.reshape(*tokens.shape[:-2], tokens.shape[-2] * tokens.shape[-1])

    return joined
