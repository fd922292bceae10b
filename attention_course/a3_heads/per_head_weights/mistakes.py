"""Known mistakes of per_head_weights."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import SOME, TIED, WORDS

mistake = Catalogue()


@mistake("split-without-transpose", hint="Column 0 of W makes one number of head 0. Is it a column of your head 0?")
def per_head_weights(W, num_heads):
    d_in, width = W.shape
    return W.reshape(num_heads, d_in, width // num_heads)


@mistake("rows-for-columns", hint="Rows belong to what goes into a projection. What is it that the heads share out?")
def per_head_weights(W, num_heads):
    return np.stack(np.split(W, num_heads, axis=0))


@mistake("heads-not-first", hint="What is result[0]: the first head's weights, or the first row of them all?")
def per_head_weights(W, num_heads):
    return np.stack(np.split(W, num_heads, axis=-1), axis=1)


@mistake("one-head-for-all", hint="Head 0 looks right. Where does head 1 get its columns from?")
def per_head_weights(W, num_heads):
    d = W.shape[1] // num_heads
    return np.array([W[:, :d] for _ in range(num_heads)])


@mistake(
    "list-of-heads", hint="Does your code return a list or one array, and which of them does the docstring ask for?"
)
def per_head_weights(W, num_heads):
    return np.split(W, num_heads, axis=-1)


@mistake.mutants(
    {
        "some-heads-only": mistake.known(*({"order": order} for order in SOME["some-heads-only"])),
        "stops-at-a-length": mistake.known(
            *({"order": order} for order in SOME["stops-at-a-length"]),
            hint="How many rows is your code made for? Try a W of a hundred.",
        ),
        # Wrong only if W is square.
        "rows-for-columns": [{"square": lambda W, h: W.shape[1]}, {"square": lambda W, h: W.shape[1] // h}],
        "rows-shared-out": mistake.mutant(
            {"cut": lambda W, i, d, n: W[i * n : (i + 1) * n]},
            hint="Rows belong to what goes into a projection. What is it that the heads share out?",
        ),
        "heads-overlap": [{"cut": lambda W, i, d, n: W[:, i : i + d]}],
        "heads-and-width-exchanged": [{"taken": lambda W, num_heads: W.shape[1] // num_heads}],
        "one-big-head": [{"taken": lambda W, num_heads: 1}],
        "heads-tied": [{"order": end} for end in TIED["heads-tied"]],
        "heads-reversed": [{"order": lambda own: own[::-1]}],
        "weights-transposed": mistake.known({"order": lambda own: own.swapaxes(-2, -1)}),
        "one-head-too-few": [{"order": lambda own: own[:-1]}],
        "first-head-only": [{"order": lambda own: own[0]}],
        "heads-interleaved": mistake.known({"interleaved": True}),
        "width-from-the-rows": [{"by_rows": True}],
    },
    hints=WORDS,
)
def per_head_weights(
    order=lambda own: own, interleaved=False, by_rows=False, square=None, taken=lambda W, num_heads: num_heads,
    cut=None,
):  # fmt: skip
    def split(W, num_heads):
        num_heads = taken(W, num_heads)
        if square and W.shape[0] == W.shape[1] and num_heads > 1:
            return order(W.reshape(num_heads, -1, square(W, num_heads)))
        if cut:
            return np.stack([cut(W, i, W.shape[1] // num_heads, W.shape[0] // num_heads) for i in range(num_heads)])
        if by_rows:
            d = W.shape[0] // num_heads
            return order(np.array([W[:, i * d : (i + 1) * d] for i in range(num_heads)]))
        d = W.shape[1] // num_heads
        if interleaved:
            return order(W.reshape(W.shape[0], d, num_heads).transpose(2, 0, 1))
        return order(W.reshape(W.shape[0], num_heads, d).swapaxes(0, 1))

    return split
