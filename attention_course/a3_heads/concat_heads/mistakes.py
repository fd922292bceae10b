"""Known mistakes of concat_heads."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import JOINED, JOINS, joined_by

mistake = Catalogue()


@mistake("concat-without-transpose", hint="Row 0 is the first token's. From which heads are your row 0's numbers?")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)


@mistake("swapped-not-joined", hint="How many axes should be left, once the heads' widths stand side by side?")
def concat_heads(heads):
    return heads.swapaxes(-3, -2)


@mistake("no-batch-axes", hint="Which axis does a for loop over an array go through, in a batch?")
def concat_heads(heads):
    return np.concatenate([head for head in heads], axis=-1)


@mistake("float64-always", hint="Which dtype has each array that you make yourself, if you do not say?")
def concat_heads(heads):
    *batch, h, L, d = heads.shape
    result = np.zeros((*batch, L, h * d))
    for i in range(h):
        result[..., i * d : (i + 1) * d] = heads[..., i, :, :]
    return result


@mistake("axes-squeezed", hint="What does np.squeeze do to a sentence of one token?")
def concat_heads(heads):
    return np.concatenate(np.split(heads, heads.shape[-3], axis=-3), axis=-1).squeeze()


@mistake.mutants(
    JOINS,
    hints=JOINED,
    catalogued=(
        "heads-averaged",
        "heads-interleaved",
        "heads-below-each-other",
        "stops-at-a-length",
        "some-heads-only",
    ),
)
def concat_heads(**options):
    return joined_by(**options)
