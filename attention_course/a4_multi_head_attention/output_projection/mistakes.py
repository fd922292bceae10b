"""Known mistakes of output_projection."""

import numpy as np

from autograder.testing import Catalogue

from ...hidden import mutation_options
from ..shared_mistakes import AT_REAL_SIZES, HEADS, HEADS_COUNTED, PROJECTIONS, WORDS, joined, numbered

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("W_O-transposed", hint="Do rows or columns of W_O belong to the heads' numbers?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, L, h * d_v) @ W_O.T


@mistake("heads-averaged", hint="Is there a mean over the heads in your code? What does the formula do with them?")
def output_projection(heads, W_O):
    return heads.mean(axis=-3) @ W_O[: heads.shape[-1]]


@mistake("rows-reversed", hint="Whose numbers come first in the concatenation?")
def output_projection(heads, W_O):
    return np.concatenate([heads[..., i, :, :] for i in reversed(range(heads.shape[-3]))], axis=-1) @ W_O


@mistake("axes-counted-from-the-front", hint="With a batch, which axis is axis 0? How could you count from the end?")
def output_projection(heads, W_O):
    return np.concatenate(list(heads), axis=-1) @ W_O


@mistake("batch-item-0-for-all", hint="Does every item of the batch get an answer of its own?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    first = heads.reshape(-1, h, L, d_v)[0].swapaxes(0, 1).reshape(L, h * d_v) @ W_O
    return np.broadcast_to(first, (*batch, L, W_O.shape[1]))


@mistake("float64-always", hint="Which dtype has each array that you make yourself, if you do not say?")
def output_projection(heads, W_O):
    *batch, h, L, d_v = heads.shape
    total = np.zeros((*batch, L, W_O.shape[1]))
    for i in range(h):
        total += heads[..., i, :, :] @ W_O[i * d_v : (i + 1) * d_v]
    return total


@mistake.mutants(
    {name: joins for name, ways in HEADS.items() if (joins := [way for way in ways if way.keys() == {"join"}])}
    | mutation_options.only(PROJECTIONS, "W_O-missing", "W_O-transposed")
    | {
        "first-block-for-all": [
            {"join": lambda heads: heads.sum(-3), "end": lambda summed, W_O: summed @ W_O[: summed.shape[-1]]}
        ],
        "last-head-only": mistake.mutant(
            {"join": lambda heads: joined((heads * (numbered(heads, -3) == heads.shape[-3] - 1)).swapaxes(-3, -2))},
            {
                "join": lambda heads: heads[..., -1, :, :],
                "end": lambda last, W_O: last @ W_O[: last.shape[-1]],
            },
            hint="The last head is there. Where do the ones before it go?",
        ),
        "some-heads-only": AT_REAL_SIZES["some-heads-only"][:2],
        "one-head-too-few": [{"skip": -1}, {"skip": 0}],
        "other-heads-zero": HEADS_COUNTED["other-heads-zero"],
    },
    hints=WORDS | {
        "heads-interleaved": "In a row of the concatenation, whose number stands beside the first one of head 1?",
    },
    catalogued=("concat-without-transpose", "heads-interleaved", "W_O-missing", "some-heads-only"),
)  # fmt: skip
def output_projection(
    join=lambda heads: joined(heads.swapaxes(-3, -2)), end=lambda concatenated, W_O: concatenated @ W_O, skip=None
):
    def project(heads, W_O):
        if skip is not None and heads.shape[-3] > 1:
            heads = heads.copy()
            heads[..., skip, :, :] = 0
        return end(join(heads), W_O)

    return project
