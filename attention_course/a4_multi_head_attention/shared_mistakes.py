"""What the known mistakes of a4 share: hints, and wrong steps of multi-head attention."""

import math

import numpy as np

from ..hidden import mutation_hints, mutation_options, size_options, softmax_options
from ..hidden.part_options import TIES, head_0, tied

NUMPY, TORCH = softmax_options.numpy_functions(), softmax_options.torch_functions()
SCALES = mutation_options.SCALES | {
    "scale-by-d_v": mutation_options.BY_VALUES["scale-by-d_v"],
    "scale-by-d_model": [{"scale": lambda size: math.sqrt(size.d_model)}, {"scale": lambda size: size.d_model}],
    "scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.h * size.d_k)}],
    "scale-by-num_heads": [{"scale": lambda size: math.sqrt(size.h)}, {"scale": lambda size: size.h}],
}
# In a module every head is as wide as that, so there this is right.
OF_D_MODEL = {
    "d_k-from-d_model": [
        {"scale": lambda size: math.sqrt(size.d_model // size.h)},
        {"scale": lambda size: math.sqrt(size.d_model / size.h)},
    ]
}


def cut(x, h):
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


def interleaved(x, h):
    return x.reshape(*x.shape[:-1], x.shape[-1] // h, h).swapaxes(-2, -1)


def joined(tokens):
    return tokens.reshape(*tokens.shape[:-2], tokens.shape[-2] * tokens.shape[-1])


def backwards(x):
    """The heads in reverse order."""
    return x[..., ::-1, :, :] if isinstance(x, np.ndarray) else x.flip(-3)


HEADS = {
    "heads-interleaved": [
        {"split": lambda x, h: interleaved(x, h).swapaxes(-3, -2)},
        {"join": lambda heads: joined(heads.swapaxes(-3, -2).swapaxes(-2, -1))},
        {
            "split": lambda x, h: interleaved(x, h).swapaxes(-3, -2),
            "join": lambda heads: joined(heads.swapaxes(-3, -2).swapaxes(-2, -1)),
        },
    ],
    "split-without-transpose": [{"split": lambda x, h: x.reshape(*x.shape[:-2], h, x.shape[-2], x.shape[-1] // h)}],
    "attention-over-heads": [{"split": cut, "join": joined}],
    "concat-without-transpose": [
        {"join": lambda heads: heads.reshape(*heads.shape[:-3], heads.shape[-2], heads.shape[-3] * heads.shape[-1])}
    ],
    "heads-reversed": [
        {"join": lambda heads: joined(backwards(heads).swapaxes(-3, -2))},
        {"split": lambda x, h: backwards(cut(x, h).swapaxes(-3, -2))},
    ],
    "heads-summed": [
        {"join": lambda heads: joined((0 * heads + heads.sum(-3)[..., None, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads.sum(-3)},
    ],
    "heads-averaged": [
        {"join": lambda heads: joined((0 * heads + heads.mean(-3)[..., None, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads.mean(-3)},
        {"join": lambda heads: joined(heads.swapaxes(-3, -2)) / heads.shape[-3]},
    ],
    "first-head-only": [
        {"join": lambda heads: joined((0 * heads + heads[..., :1, :, :]).swapaxes(-3, -2))},
        {"join": lambda heads: heads[..., 0, :, :]},
    ],
}


def unless_as_wide(concatenated, W_O):
    return concatenated if concatenated.shape[-1] == W_O.shape[-1] else concatenated @ W_O


def of_head_0(x):
    return 0 * x + x[..., :1, :, :]


OF_HEAD_0 = {
    "keys-of-head-0-for-all": [{"operands": lambda Q, K, V: (Q, of_head_0(K), V)}],
    "queries-of-head-0-for-all": [{"operands": lambda Q, K, V: (of_head_0(Q), K, V)}],
    "values-of-head-0-for-all": [{"operands": lambda Q, K, V: (Q, K, of_head_0(V))}],
}
PROJECTIONS = {
    "W_O-missing": [{"end": lambda concatenated, W_O: concatenated}, {"end": unless_as_wide}],
    "W_O-transposed": [{"end": lambda concatenated, W_O: concatenated @ W_O.T}],
    "values-from-W_K": [{"sources": lambda Q, K, V: (Q, K, K)}],
    "values-from-W_Q": [{"sources": lambda Q, K, V: (Q, K, Q)}],
    "keys-from-W_Q": [{"sources": lambda Q, K, V: (Q, Q, V)}],
    "queries-from-W_K": [{"sources": lambda Q, K, V: (K, K, V)}],
    "queries-and-keys-swapped": [{"sources": lambda Q, K, V: (K, Q, V)}],
    "W_K-and-W_V-swapped": [{"sources": lambda Q, K, V: (Q, V, K)}],
}
CUT = (16, 8, 32, 64)  # typical fixed sizes of a table


def numbered(like, axis):
    """0, 1, ... along a (negative) axis of `like`, as the same kind of array, with length 1 in the later axes."""
    size = like.shape[axis]
    places = np.arange(size) if isinstance(like, np.ndarray) else like.new_ones(size, dtype=int).cumsum(0) - 1
    return places.reshape((size,) + (1,) * (-1 - axis))


def seen_beyond(mask, most):
    """The mask, which beyond `most` queries or keys hides nothing."""
    return mask | (numbered(mask, -1) >= most) | (numbered(mask, -2) >= most)


def seen_below(mask, most):
    """The mask, which hides all keys from `most` on, except each word itself."""
    keys, queries = numbered(mask, -1), numbered(mask, -2)
    return mask & ((keys < most) | (keys == queries))


def whole(x, h):
    """The queries, keys or values of all heads, for each head."""
    shared = x[..., None, :, :]
    if isinstance(x, np.ndarray):
        return np.repeat(shared, h, axis=-3)
    return shared.expand(*x.shape[:-2], h, *x.shape[-2:])


AT_REAL_SIZES = {
    "mask-cut": [{"mask": lambda mask, most=most: seen_beyond(mask, most)} for most in CUT],
    "stops-at-a-length": [
        *({"mask": lambda mask, most=most: seen_below(mask, most)} for most in CUT),
        *size_options.SIZES["stops-at-a-length"],
    ],
    "some-heads-only": [
        {"join": lambda heads, most=most: joined((heads * (numbered(heads, -3) < most)).swapaxes(-3, -2))}
        for most in (3, 4)
    ]
    + size_options.SIZES["some-heads-only"],
    "heads-tied": [
        {"operands": lambda Q, K, V, tie=tie: tuple(tied(x, tie) for x in (Q, K, V))}
        for tie in (*(lambda i, h, most=most: min(i, most - 1) for most in (3, 4)), *TIES)
    ],
}
HEADS_COUNTED = {
    "one-head-for-all": [{"operands": lambda Q, K, V: tuple(tied(x, head_0) for x in (Q, K, V))}],
    "other-heads-zero": [
        {"join": lambda heads, most=most: joined((heads * (numbered(heads, -3) < most)).swapaxes(-3, -2))}
        for most in (1, 2)
    ],
    "heads-and-width-exchanged": [{"count": lambda h, width: width // h}],
    "one-big-head": [{"split": whole, "join": lambda heads: heads[..., 0, :, :]}, {"count": lambda h, width: 1}],
}
MASKS = mutation_options.without(mutation_options.MASKS, "mask-of-the-first-for-all")
SLIPS = (
    SCALES | HEADS | OF_HEAD_0 | PROJECTIONS | MASKS | mutation_options.IN_ONE_PART
    | mutation_options.MASK_AXES | mutation_options.NOTHING
    | softmax_options.AXES | {"softmax-over-heads": [{"axis": -3}], "one-softmax-for-all-heads": [{"axis": (-3, -1)}]}
    | mutation_options.only(
        softmax_options.CURVES, "softmax-missing", "softmax-twice", "no-exponential", "not-normalised",
        "sigmoid-for-softmax", "no-max-subtraction", "sign-flipped", "hard-maximum",
    )
    | mutation_options.TURNS | mutation_options.AFTER
    | AT_REAL_SIZES
    | HEADS_COUNTED | mutation_options.ZEROED | mutation_options.CAUSAL
    | {
        "weights-of-one-head": [
            {"mixed": lambda w, V, size: (w @ V, w[..., -1, :, :])},
            {"mixed": lambda w, V, size: (w @ V, w[..., 0, :, :])},
        ]
    }
    | {"weights-of-head-0-for-all": [{"mixed": lambda w, V, size: (w @ V, 0 * w + w[..., :1, :, :])}]}
)  # fmt: skip
WORDS = mutation_hints.HINTS | {
    "d_k-from-d_model": "d_model need not be h * d_k. Which shape tells you how wide a head really is?",
    "mask-cut": "Up to which length does your mask hold? Where does that number come from?",
    "heads-tied": "With eight heads, do the last ones have queries, keys and values of their own?",
    "one-head-for-all": "Compare two heads' weights. Should they be the same?",
    "other-heads-zero": "Which of the heads reach your output? Set W_O's rows to zero, head by head.",
    "heads-and-width-exchanged": "Is num_heads how many heads there are, or how wide one of them is?",
    "one-big-head": "How many matrices of weights are there? Over how many columns does a score add up?",
    "values-zeroed": "Does your output change if W_V does?",
    "residual-added": "What does the docstring add to the output?",
    "weights-of-one-head": "How many heads are there, and of how many do you return the weights?",
    "weights-of-head-0-for-all": "Are the weights that you return each head's own?",
    "keys-of-head-0-for-all": "Which columns of W_K make the keys of head 1?",
    "queries-of-head-0-for-all": "Which columns of W_Q make the queries of head 1?",
    "values-of-head-0-for-all": "Which columns of W_V make the values of head 1?",
    "one-softmax-for-all-heads": "What does one row of a single head's weights sum to?",
    "batch-and-words-swapped": "Change the second text of a batch: does the first one's output change?",
    "heads-interleaved": "Which columns does head 0 own: neighbours, or every h-th one?",
    "split-without-transpose": "Has head 0 a row for each token, or pieces of the first ones?",
    "concat-without-transpose": "Row 0 is the first token's. From which heads are your row 0's numbers?",
    "attention-over-heads": "Which two axes does your matrix product meet: two of words, or the heads?",
    "heads-reversed": "Which head's numbers stand first in a row of yours?",
    "heads-summed": "Side by side, or added up: what is lost when heads are added?",
    "heads-averaged": "Side by side, or added up: what is lost when heads are averaged?",
    "first-head-only": "Head 0 is there. Where do the others go?",
    "W_O-missing": "What happens to the concatenated heads before they are returned?",
    "W_O-transposed": "Which axis of W_O meets the concatenated heads?",
    "values-from-W_K": "Which matrix makes the values? Is each of the four used once?",
    "values-from-W_Q": "Which matrix makes the values? Is each of the four used once?",
    "keys-from-W_Q": "Which matrix makes the keys? Is each of the four used once?",
    "queries-from-W_K": "Which matrix makes the queries? Is each of the four used once?",
    "W_K-and-W_V-swapped": "Which matrix makes what is compared, and which one what is blended?",
    "first-block-for-all": "Which rows of W_O meet head 1?",
    "one-head-too-few": "Count the heads that reach your result. Where does your loop end?",
}


def in_heads(
    xp, Q, K, V, h, d_model, allowed, project,
    split=lambda x, h: cut(x, h).swapaxes(-3, -2),
    join=lambda heads: joined(heads.swapaxes(-3, -2)),
    sources=lambda Q, K, V: (Q, K, V),
    count=lambda h, width: h,
    **options,
):  # fmt: skip
    heads = [split(x, count(h, Q.shape[-1])) for x in sources(Q, K, V)]
    found, weights = mutation_options.attend(xp, *heads, allowed, more={"h": h, "d_model": d_model}, **options)
    return project(join(found)), weights
