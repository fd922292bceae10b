"""Known mistakes of online_softmax_attention."""

import math

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import HALF, in_half, limited, ones, online, zeros

mistake = Catalogue()


def _blockwise(
    starts=lambda S, size: range(0, S, size),
    ends=lambda start, size: start + size,
    beginning=-np.inf,
    total=0.0,
    end=lambda total, mixed: mixed / total[..., None],
    step=online(),
    after=lambda state: state,
):
    """`online_softmax_attention`. Each decision is an option."""

    def online_softmax_attention(Q, K, V, block_size):
        if step == "causal":
            return _causal(Q, K, V)
        rows = Q.shape[:-1]
        state = (
            np.full(rows, beginning, Q.dtype),
            np.full(rows, total, Q.dtype),
            np.zeros((*rows, V.shape[-1]), Q.dtype),
        )
        for start in starts(K.shape[-2], block_size):
            block = slice(start, ends(start, block_size))
            state = after(step(*state, Q, K[..., block, :], V[..., block, :]))
        return end(*state[1:])

    return online_softmax_attention


def _causal(Q, K, V):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True)) * np.tri(*scores.shape[-2:], dtype=Q.dtype)
    return exps / exps.sum(axis=-1, keepdims=True) @ V


def _divided(state):
    return *state[:2], state[2] / state[1][..., None]


def _alone(Q, K, V):
    return _blockwise()(Q, K, V, K.shape[-2])


@mistake("whole-table", hint="How many scores does your code hold at once: those of a block, or those of all keys?")
def online_softmax_attention(Q, K, V, block_size):
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ V


@mistake("divided-by-the-keys", hint="By what is the mixture divided at the end: by how many keys there are?")
def online_softmax_attention(Q, K, V, block_size):
    return _blockwise(end=lambda total, mixed: mixed / K.shape[-2])(Q, K, V, block_size)


@mistake("last-block-made-full", hint="With 9 keys in blocks of 4, which keys are in the last block?")
def online_softmax_attention(Q, K, V, block_size):
    S = K.shape[-2]
    starts = lambda S, size: [max(0, min(start, S - size)) for start in range(0, S, size)]  # noqa: E731
    return _blockwise(starts=starts)(Q, K, V, min(block_size, S))


@mistake("last-block-filled-with-zeros", hint="Keys of zeros have a score, too. Which weight does it get?")
def online_softmax_attention(Q, K, V, block_size):
    missing = -K.shape[-2] % block_size
    pad = lambda x: np.concatenate([x, np.zeros((*x.shape[:-2], missing, x.shape[-1]), x.dtype)], axis=-2)  # noqa: E731
    return _blockwise()(Q, pad(K), pad(V), block_size)


@mistake("last-block-only", hint="What does each block start from: from nothing, or from what came before?")
def online_softmax_attention(Q, K, V, block_size):
    start = (K.shape[-2] - 1) // block_size * block_size
    return _alone(Q, K[..., start:, :], V[..., start:, :])


@mistake(
    "mean-of-the-blocks", hint="Does a block with larger scores count for more in your output than one with small ones?"
)
def online_softmax_attention(Q, K, V, block_size):
    blocks = [slice(start, start + block_size) for start in range(0, K.shape[-2], block_size)]
    return sum(_alone(Q, K[..., block, :], V[..., block, :]) for block in blocks) / len(blocks)


@mistake(
    "sum-of-the-blocks", hint="A softmax for each block sums to 1 for each. What should all weights together sum to?"
)
def online_softmax_attention(Q, K, V, block_size):
    blocks = [slice(start, start + block_size) for start in range(0, K.shape[-2], block_size)]
    return sum(_alone(Q, K[..., block, :], V[..., block, :]) for block in blocks)


@mistake("total-begins-at-1", hint="What is the total before the first block?")
def online_softmax_attention(Q, K, V, block_size):
    return _blockwise(beginning=0.0, total=1.0)(Q, K, V, block_size)


@mistake("blocks-of-queries", hint="Whose blocks does each query go through: those of keys, or those of queries?")
def online_softmax_attention(Q, K, V, block_size):
    return _blockwise(starts=lambda S, size: range(0, min(Q.shape[-2], S), size))(Q, K, V, block_size)


@mistake("weights-too", hint="What does the docstring promise: how many things?")
def online_softmax_attention(Q, K, V, block_size):
    output = _alone(Q, K, V)
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return output, exps / exps.sum(axis=-1, keepdims=True)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def online_softmax_attention(Q, K, V, block_size):
    return _blockwise()(Q, K, V, block_size).astype(np.float64)


@mistake.mutants({"half-precision": mistake.mutant(*in_half(_blockwise()), hint=HALF)})
def online_softmax_attention(code):
    return code


@mistake.mutants(
    {
        "exponent-left-out": mistake.mutant(
            {"step": online(exps=lambda scores, largest: scores - largest[..., None])},
            hint="Which step of a softmax makes all numbers positive? Is it there?",
        ),
        "causal-mask-put-in": mistake.mutant(
            {"step": "causal"}, hint="May the first query look at the last key? Who says that it must not?"
        ),
        "not-divided-at-the-end": mistake.known(
            {"end": lambda total, mixed: mixed}, hint="What is left to do after the last block? What have you not used?"
        ),
        "multiplied-at-the-end": mistake.known(
            {"end": lambda total, mixed: mixed * total[..., None]},
            hint="In the example, is it 16/3 divided by 4/3, or multiplied?",
        ),
        "last-block-left-out": mistake.known(
            {"starts": lambda S, size: range(0, S // size * size, size) if S >= size else range(0, S, size)},
            {"starts": lambda S, size: range(0, S - size + 1, size)},
            hint="With 9 keys in blocks of 4, how many blocks are there?",
        ),
        "first-block-left-out": mistake.mutant(
            {"starts": lambda S, size: range(size, S, size)}, hint="Where does the first block begin?"
        ),
        "first-blocks-only": mistake.known(
            *limited("starts", lambda limit: lambda S, size: range(0, S, size)[:limit], limits=(8, 16, 32, 64, 10, 12)),
            hint="How many blocks does your loop go through if there are 33? What in it says so?",
        ),
        "stops-at-a-length": mistake.mutant(
            *limited("starts", lambda limit: lambda S, size: range(0, min(S, limit), size)),
            hint="With 71 keys, which is the last one that your loop comes to?",
        ),
        "first-block-only": mistake.known(
            {"starts": lambda S, size: [0]}, hint="How many blocks does your loop go through?"
        ),
        "blocks-overlap": mistake.known(
            {"ends": lambda start, size: start + size + 1},
            {"starts": lambda S, size: range(0, S, max(1, size - 1))},
            hint="With blocks of 4, where does the second one begin?",
        ),
        "gaps-between-blocks": mistake.known(
            {"ends": lambda start, size: start + max(size - 1, 1)},
            hint="With blocks of 4, where does the second one begin, and where has the first one ended?",
        ),
        "largest-begins-at-0": mistake.known(
            {"beginning": 0.0},
            hint="If all scores are far below zero, what is the largest, and what do you begin with?",
        ),
        "no-max-subtraction": mistake.mutant(
            {"beginning": 0.0, "step": online(new=lambda old, block: old)},
            hint="What is np.exp(1000.0)? From what are the scores of a block measured in yours?",
        ),
        "largest-of-the-first-block": mistake.mutant(
            {"step": online(new=lambda old, block: np.where(np.isinf(old), block, old))},
            hint="A later block has a score that is larger by thousands. What goes into np.exp?",
        ),
        "nothing-shrunk": mistake.mutant(
            {"step": online(shrink_total=ones, shrink_mixed=ones)},
            hint="A larger score turns up. What was summed up before: from which score was it measured?",
        ),
        "total-not-shrunk": mistake.mutant(
            {"step": online(shrink_total=ones)},
            hint="You shrink what was mixed before. What else was measured from the old largest score?",
        ),
        "mixed-not-shrunk": mistake.mutant(
            {"step": online(shrink_mixed=ones)},
            hint="You shrink the old total. What else was measured from the old largest score?",
        ),
        "old-total-forgotten": mistake.mutant(
            {"step": online(shrink_total=zeros)},
            hint="What was summed up before a block: is it in both of the new sums?",
        ),
        "old-mixed-forgotten": mistake.mutant(
            {"step": online(shrink_mixed=zeros)}, hint="What was mixed before a block: is it in both of the new sums?"
        ),
        "largest-of-the-block": mistake.mutant(
            {"step": online(new=lambda old, block: block)},
            hint="The largest score so far: may it become smaller with a new block?",
        ),
        "no-scaling": mistake.mutant(
            {"step": online(scale=lambda d: 1.0)}, hint="What are the dot products divided by?"
        ),
        "divided-in-each-step": mistake.mutant(
            {"after": _divided},
            {"after": _divided, "end": lambda total, mixed: mixed},
            hint="When is what is mixed divided by the total: in each step, or once at the very end?",
        ),
    }
)
def online_softmax_attention(**options):
    return _blockwise(**options)
