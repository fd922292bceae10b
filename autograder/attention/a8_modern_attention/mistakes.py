"""Known mistakes of a8: rotary positions, grouped queries, the cache, windows, online softmax, norm, gate and block."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from autograder.attention.hidden import decisions
from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()
NUMPY = decisions.numpy_ways()

# ---------------------------------------------------------------- rotate


def _speeds(x, base):
    d = x.shape[-1]
    return base ** (-np.arange(0, d, 2) / d)


def _side_by_side(x):
    return x[..., 0::2], x[..., 1::2]


def _in_halves(x):
    return np.split(x, 2, axis=-1)


def _woven(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], 2 * first.shape[-1])


def _behind(first, second):
    return np.concatenate([first, second], axis=-1)


def _right_turn(first, second, cos, sin):
    return first * cos - second * sin, first * sin + second * cos


def _rotation(
    pairs=_side_by_side,
    joined=_woven,
    turn=_right_turn,
    speeds=_speeds,
    angle=lambda positions, speed: positions[:, None] * speed,
    chosen=lambda base: base,
):
    """`rotate` with each decision an option."""

    def rotate(x, positions, base=10000.0):
        angles = angle(positions, speeds(x, chosen(base)))
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        return joined(*turn(*pairs(x), cos, sin))

    return rotate


# Written out, since tests hand it in.
@mistake("pairs-in-halves", hint="Which column is turned together with column 0: its neighbour, or one far away?")
def rotate(x, positions, base=10000.0):
    return _rotation(pairs=_in_halves, joined=_behind)(x, positions, base)


@mistake("written-over-too-soon", hint="The second number of a pair needs the first: the new one, or the old one?")
def rotate(x, positions, base=10000.0):
    def turn(first, second, cos, sin):
        first = first * cos - second * sin
        return first, first * sin + second * cos

    return _rotation(turn=turn)(x, positions, base)


@mistake("added-not-turned", hint="Is the position added to the vector, or is the vector turned by it?")
def rotate(x, positions, base=10000.0):
    return _rotation(turn=lambda a, b, cos, sin: (a + cos, b + sin))(x, positions, base)


@mistake("scaled-by-cosines", hint="Each new number comes from both numbers of its pair. From how many does yours?")
def rotate(x, positions, base=10000.0):
    return _rotation(turn=lambda a, b, cos, sin: (a * cos, b * sin))(x, positions, base)


@mistake("a-speed-for-each-column", hint="Do the two numbers of a pair turn by one angle, or by two?")
def rotate(x, positions, base=10000.0):
    angle = positions[:, None] * base ** (-np.arange(x.shape[-1]) / x.shape[-1])
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = _side_by_side(x)
    return _woven(first * cos[:, 0::2] - second * sin[:, 0::2], first * sin[:, 1::2] + second * cos[:, 1::2])


@mistake("base-1000", hint="Count the zeros of the base in the first line of the stub.")
def rotate(x, positions, base=1000.0):
    return _rotation()(x, positions, base)


@mistake("heads-for-words", hint="Which axis of x holds the words when there is a batch in front? Count from the end.")
def rotate(x, positions, base=10000.0):
    angles = positions[: x.shape[0]].reshape(-1, *[1] * (x.ndim - 1)) * _speeds(x, base)
    turned = _right_turn(*_side_by_side(x), np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype))
    return _woven(*turned)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def rotate(x, positions, base=10000.0):
    angles = positions[:, None] * _speeds(x, base)
    return _woven(*_right_turn(*_side_by_side(x), np.cos(angles), np.sin(angles)))


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def rotate(x, positions, base=10000.0):
    x[...] = _rotation()(x, positions, base)
    return x


def _angles_of_other_pairs(halves):
    """`rotate` with pairs side by side and the angles of halves, or the other way round."""

    def rotate(x, positions, base=10000.0):
        angles = positions[:, None] * _speeds(x, base)
        angles = np.repeat(angles, 2, axis=-1) if halves else np.tile(angles, 2)
        (first, second), joined = (_in_halves(x), _behind) if halves else (_side_by_side(x), _woven)
        return (x * np.cos(angles) + joined(-second, first) * np.sin(angles)).astype(x.dtype)

    return rotate


def _added(x, positions, base=10000.0):
    angles = positions[:, None] * _speeds(x, base)
    return (x + _woven(np.sin(angles), np.cos(angles))).astype(x.dtype)


def _half_turned(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    return np.concatenate([_rotation()(x[..., :half], positions, base), x[..., half:]], axis=-1)


@mistake.recipe(
    {
        "angles-of-other-pairs": [{"code": _angles_of_other_pairs(True)}, {"code": _angles_of_other_pairs(False)}],
        "added-not-turned": [{"code": _added}],
        "half-of-the-width-turned": [{"code": _half_turned}],
    },
    hints={
        "angles-of-other-pairs": "Do the two numbers of a pair turn by one angle, or by two?",
        "half-of-the-width-turned": "How many pairs has a vector of width 8, and how many of them does yours turn?",
    },
)
def rotate(code):
    return code


TURNS = {
    "turned-backwards": [{"turn": lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)}],
    "mirrored": [
        {"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)},
        {"turn": lambda a, b, cos, sin: (b * sin - a * cos, a * sin + b * cos)},
    ],
    "no-minus": [{"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)}],
    "two-minuses": [{"turn": lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)}],
    "sine-and-cosine-swapped": [{"turn": lambda a, b, cos, sin: _right_turn(a, b, sin, cos)}],
    "first-of-a-pair-unturned": [{"turn": lambda a, b, cos, sin: (a, a * sin + b * cos)}],
    "second-of-a-pair-unturned": [{"turn": lambda a, b, cos, sin: (a * cos - b * sin, b)}],
    "pair-swapped": [{"turn": lambda a, b, cos, sin: _right_turn(a, b, cos, sin)[::-1]}],
}
SPEEDS = {
    "one-speed-for-all": [{"speeds": lambda x, base: np.ones(x.shape[-1] // 2)}],
    "exponent-without-the-2": [{"speeds": lambda x, base: base ** (-np.arange(x.shape[-1] // 2) / x.shape[-1])}],
    "exponent-doubled": [{"speeds": lambda x, base: base ** (-2 * np.arange(0, x.shape[-1], 2) / x.shape[-1])}],
    "exponent-up-to-1": [{"speeds": lambda x, base: base ** -np.linspace(0, 1, x.shape[-1] // 2)}],
    "exponent-of-the-wrong-sign": [{"speeds": lambda x, base: 1 / _speeds(x, base)}],
    "slowest-pair-first": [{"speeds": lambda x, base: _speeds(x, base)[::-1]}],
    "speeds-from-the-second": [{"speeds": lambda x, base: base ** (-(np.arange(0, x.shape[-1], 2) + 2) / x.shape[-1])}],
    "base-ignored": [{"chosen": lambda base: 10000.0}],
}
PAIRS = {
    "pairs-in-halves": [{"pairs": _in_halves, "joined": _behind}],
    "put-together-in-halves": [{"joined": _behind}],
    "taken-apart-in-halves": [{"pairs": _in_halves}],
}
PLACES = {
    "positions-from-1": [{"angle": lambda positions, speed: (positions[:, None] + 1) * speed}],
    "positions-ignored": [{"angle": lambda positions, speed: np.arange(len(positions))[:, None] * speed}],
    "positions-from-the-first": [{"angle": lambda positions, speed: (positions - positions[0])[:, None] * speed}],
    "degrees": [{"angle": lambda positions, speed: np.deg2rad(positions[:, None] * speed)}],
    "divided-by-length": [{"angle": lambda positions, speed: positions[:, None] / len(positions) * speed}],
    "whole-turns": [{"angle": lambda positions, speed: 2 * np.pi * positions[:, None] * speed}],
}
ROTARY = {
    "two-minuses": "Of the four entries of the matrix, which one has a minus?",
    "first-of-a-pair-unturned": "How many numbers of a pair change when it is turned?",
    "pair-swapped": "At position 0 nothing is turned. What does yours make of (1, 0) there?",
    "exponent-doubled": "Which number is i for columns 2 and 3: is it 2, or the number of the pair?",
    "exponent-up-to-1": "The exponent is 2i / d. Does the last pair reach 1?",
    "speeds-from-the-second": "How fast is the first pair: what is base to the power of 0?",
    "taken-apart-in-halves": "Which column is turned together with column 0: its neighbour, or one far away?",
    "positions-from-1": "By how much is the word at position 0 turned?",
    "positions-from-the-first": "By how much is a word turned that stands alone, at position 5?",
    "degrees": "Does np.cos take degrees?",
    "divided-by-length": "Does the angle of position 1 depend on how many words there are?",
    "whole-turns": "By how much does the first pair turn from one word to the next: by 1?",
    "put-together-in-halves": "The pairs are turned. In which columns should the two numbers of a pair stand?",
    "turned-backwards": "Where does (1, 0) go at position 1: to (cos, sin), or to (cos, -sin)?",
    "mirrored": "Of the four entries of the matrix, which one has a minus? What does (0, 1) become at 0?",
    "no-minus": "Of the four entries of the matrix, which one has a minus? Does a vector keep its length?",
    "sine-and-cosine-swapped": "At position 0 nothing is turned. What does yours make of (1, 0) there?",
    "second-of-a-pair-unturned": "How many numbers of a pair change when it is turned?",
    "one-speed-for-all": "How fast does the second pair turn: like the first?",
    "exponent-without-the-2": "The second pair of d = 4: what is 2i / d there, and what is yours?",
    "exponent-of-the-wrong-sign": "Does the second pair turn faster than the first, or slower?",
    "slowest-pair-first": "Which pair turns by the position itself: the first or the last?",
    "positions-ignored": "A vector's angle comes from its entry in positions. Does yours?",
    "base-ignored": "A caller may give another base. Does yours listen?",
}


@mistake.recipe(
    TURNS | SPEEDS | PAIRS | PLACES, hints=ROTARY,
    held=(
        "put-together-in-halves", "turned-backwards", "mirrored", "no-minus", "sine-and-cosine-swapped",
        "second-of-a-pair-unturned", "one-speed-for-all", "exponent-without-the-2", "exponent-of-the-wrong-sign",
        "slowest-pair-first", "positions-ignored", "base-ignored",
    ),
)  # fmt: skip
def rotate(**options):
    return _rotation(**options)


# ---------------------------------------------------------------- grouped_query_attention


def _neighbours(x, h):
    return np.repeat(x, h // x.shape[-3], axis=-3)


def _in_turn(x, h):
    return np.concatenate([x] * (h // x.shape[-3]), axis=-3)


def _first_only(x, h):
    return np.repeat(x[..., :1, :, :], h, axis=-3)


def _last_only(x, h):
    return np.repeat(x[..., -1:, :, :], h, axis=-3)


def _mean(x, h):
    return np.repeat(x.mean(axis=-3, keepdims=True), h, axis=-3)


def _backwards(x, h):
    return _neighbours(x[..., ::-1, :, :], h)


def _by_size(x, h):
    g = x.shape[-3]
    return x[..., np.minimum(np.arange(h) // g, g - 1), :, :]


def _grouped(Q, K, V, num_kv_heads, mask=None, *, keys=_neighbours, values=_neighbours, error=True, **options):
    """Right attention in groups, with each decision an option."""
    h = Q.shape[-3]
    if error and h % num_kv_heads:
        raise ValueError("no groups of one size")
    more = {"num_heads": h, "num_kv_heads": num_kv_heads}
    return decisions.attend(NUMPY, Q, keys(K, h), values(V, h), mask, more=more, **options)


@mistake("queries-averaged", hint="How many heads of queries went in, and how many different outputs come out?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    groups = Q.reshape(*Q.shape[:-3], num_kv_heads, h // num_kv_heads, *Q.shape[-2:])
    return _grouped(_neighbours(groups.mean(axis=-3), h), K, V, num_kv_heads, mask)


@mistake("one-head-for-each-group", hint="How many heads of output does the docstring ask for?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    output, weights = _grouped(Q, K, V, num_kv_heads, mask)
    return output[..., :: h // num_kv_heads, :, :], weights[..., :: h // num_kv_heads, :, :]


@mistake("softmax-over-heads", hint="Add up the weights of all heads at one place, then those of one row. Which is 1?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return _grouped(Q, K, V, num_kv_heads, mask, axis=-3)


@mistake("mask-inverted", hint="What does True mean in the mask: may attend, or must not?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return _grouped(Q, K, V, num_kv_heads, None if mask is None else ~mask)


@mistake("no-max-subtraction", hint="What is np.exp(1000.0)? What may be taken off a row without changing its weights?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h = Q.shape[-3]
    if h % num_kv_heads:
        raise ValueError("no groups of one size")
    exps = np.exp(Q @ _neighbours(K, h).swapaxes(-2, -1) / math.sqrt(Q.shape[-1]))
    exps = exps if mask is None else np.where(mask, exps, 0)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total > 0, total, 1)
    return weights @ _neighbours(V, h), weights


@mistake(
    "no-error", hint="Six heads in four groups: which keys does the last head get? What does the docstring ask for?"
)
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    h, g = Q.shape[-3], K.shape[-3]
    which = np.arange(h) * g // h
    chosen = lambda x, h: x[..., which, :, :]  # noqa: E731
    return _grouped(Q, K, V, num_kv_heads, mask, keys=chosen, values=chosen, error=False)


@mistake("output-only", hint="How many things does the docstring promise?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return _grouped(Q, K, V, num_kv_heads, mask)[0]


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    return _grouped(Q, K, V, num_kv_heads, mask)[::-1]


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
    output, weights = _grouped(Q, K, V, num_kv_heads, mask)
    return np.zeros(output.shape) + output, np.zeros(weights.shape) + weights


GROUPS = {
    "heads-in-turn": [{"keys": _in_turn, "values": _in_turn}],
    "values-in-turn": [{"values": _in_turn}],
    "keys-in-turn": [{"keys": _in_turn}],
    "first-head-for-all": [{"keys": _first_only, "values": _first_only}],
    "last-head-for-all": [{"keys": _last_only, "values": _last_only}],
    "heads-averaged": [{"keys": _mean, "values": _mean}],
    "groups-backwards": [{"keys": _backwards, "values": _backwards}],
    "divided-by-the-groups": [{"keys": _by_size, "values": _by_size}],
    "values-of-the-first": [{"values": _first_only}],
    "keys-of-the-first": [{"keys": _first_only}],
}
WHOLE = {
    "scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.d_k * size.num_heads)}],
    "scale-by-length": [
        {"scale": scale}
        for scale in (lambda size: math.sqrt(size.S), lambda size: math.sqrt(size.L), lambda size: size.S)
    ],
    "scale-by-num_heads": [
        {"scale": lambda size: math.sqrt(size.num_heads)},
        {"scale": lambda size: math.sqrt(size.num_kv_heads)},
    ],
}
SHARING = {
    "scale-by-length": "Write down the shape of K. Which of its numbers is the square root of?",
    "causal-mask-put-in": "May the first query look at the last key? Who says that it must not?",
    "last-head-for-all": "How many heads of keys are there, and how many does your code look at?",
    "values-of-the-first": "Do a head's keys and its values come from the same head?",
    "keys-of-the-first": "Do a head's keys and its values come from the same head?",
    "heads-in-turn": "With 8 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
    "values-in-turn": "Do a head's keys and its values come from the same head?",
    "keys-in-turn": "Do a head's keys and its values come from the same head?",
    "first-head-for-all": "How many heads of keys are there, and how many does your code look at?",
    "heads-averaged": "Does a group have keys of its own, or a mean of all?",
    "groups-backwards": "Which head of keys belongs to query head 0: the first or the last?",
    "divided-by-the-groups": "How many query heads are in a group: num_kv_heads, or another number?",
}


@mistake.recipe(
    GROUPS
    | WHOLE
    | decisions.without(decisions.SCALES, "scale-by-length", "scale-by-half-d_k")
    | decisions.BY_VALUES
    | decisions.only(decisions.CURVES, "softmax-missing", "softmax-twice", "not-normalised", "sign-flipped")
    | decisions.only(decisions.AXES, "softmax-over-queries", "softmax-over-everything")
    | decisions.without(decisions.MASKS, "mask-of-the-first-for-all", "mask-transposed")
    | decisions.NOTHING
    | {"causal-mask-put-in": [{"always": lambda L, S: np.tri(L, S, dtype=bool)}]},
    hints=decisions.HINTS | SHARING,
    held=(
        "heads-in-turn", "values-in-turn", "keys-in-turn", "first-head-for-all", "heads-averaged", "groups-backwards",
        "divided-by-the-groups", "no-scaling", "scale-by-whole-width", "softmax-over-queries", "mask-ignored",
        "mask-after-softmax", "nan-for-nothing", "evenly-for-nothing",
    ),
)  # fmt: skip
def grouped_query_attention(always=None, **options):
    def grouped_query_attention(Q, K, V, num_kv_heads, mask=None):
        if always is not None:
            mask = always(Q.shape[-2], K.shape[-2]) & (True if mask is None else mask)
        return _grouped(Q, K, V, num_kv_heads, mask, **options)

    return grouped_query_attention


# ---------------------------------------------------------------- cache_bytes


@mistake("weights-kept", hint="Is it keys and values that are kept, or the table of who attends to whom?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * length * bytes_per_number


@mistake("bits-made-bytes", hint="Is bytes_per_number a count of bits?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number // 8


@mistake("always-two-bytes", hint="A caller may ask for float32. Does yours listen?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 4 * num_layers * num_kv_heads * d_head * length


@mistake("four-bytes-at-first", hint="How many bytes does the first line of the stub give a number?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=4):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number


@mistake("layers-added", hint="With twice the layers, is the cache twice as large?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return (num_layers + 2 * num_kv_heads * d_head * length) * bytes_per_number


@mistake("a-float", hint="Is there a half of a byte anywhere? Which type has a count?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2.0 * num_layers * num_kv_heads * d_head * length * bytes_per_number


def _counting(
    numbers=lambda layers, heads, d, length: layers * heads * d * length,
    factor=2,
    size=lambda bytes_per_number: bytes_per_number,
    end=int,
):
    """`cache_bytes` with each decision an option."""

    def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
        return end(factor * numbers(num_layers, num_kv_heads, d_head, length) * size(bytes_per_number))

    return cache_bytes


@mistake.recipe(
    {
        "keys-only": [{"factor": 1}],
        "queries-too": [{"factor": 3}],
        "one-layer": [{"numbers": lambda layers, heads, d, length: heads * d * length}],
        "one-head": [{"numbers": lambda layers, heads, d, length: layers * d * length}],
        "one-number-a-key": [{"numbers": lambda layers, heads, d, length: layers * heads * length}],
        "one-word": [{"numbers": lambda layers, heads, d, length: layers * heads * d}],
        "weights-kept": [{"numbers": lambda layers, heads, d, length: layers * heads * length**2}],
        "caches-of-all-steps": [
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length + 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length - 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length**2},
        ],
        "one-word-more": [{"numbers": lambda layers, heads, d, length: layers * heads * d * (length + 1)}],
        "one-word-less": [{"numbers": lambda layers, heads, d, length: layers * heads * d * (length - 1)}],
        "layers-for-heads": [{"numbers": lambda layers, heads, d, length: layers**2 * d * length},
                             {"numbers": lambda layers, heads, d, length: heads**2 * d * length}],
        "square-heads": [
            {"numbers": lambda layers, heads, d, length: layers * heads * d**2 * length},
            {"numbers": lambda layers, heads, d, length: layers * (heads * d) ** 2 * length},
        ],
        "numbers-for-bytes": [{"size": lambda bytes_per_number: 1}],
        "bits-for-bytes": [{"size": lambda bytes_per_number: 8 * bytes_per_number}],
        "kibibytes": [{"end": lambda count: count / 1024}],
        "megabytes": [{"end": lambda count: count / 1e6}, {"end": lambda count: count / 1024**2}],
        "gigabytes": [{"end": lambda count: count / 1e9}, {"end": lambda count: count / 1024**3}],
    },
    hints={
        "megabytes": "Is it bytes that are asked for?",
        "gigabytes": "Is it bytes that are asked for?",
        "caches-of-all-steps": "After the last word, how many caches are there: one, or one from each step?",
        "one-word-more": "Try one word. How many keys are kept of it in each head?",
        "one-word-less": "Try one word. How many keys are kept of it in each head?",
        "layers-for-heads": "Which of the arguments has no influence on your result?",
        "keys-only": "What is kept of a word beside its key?",
        "queries-too": "Of queries, keys and values: which are needed again when the next word is written?",
        "one-layer": "Does each layer have keys of its own?",
        "one-head": "Does each head of keys and values keep its own?",
        "one-number-a-key": "How many numbers is a key?",
        "one-word": "Of how many words are keys and values kept?",
        "numbers-for-bytes": "How many bytes does a number take?",
        "bits-for-bytes": "Is bytes_per_number a count of bits?",
        "square-heads": "Is a key a list of d_head numbers, or a square of them?",
        "kibibytes": "Is it bytes that are asked for?",
    },
    held=(
        "keys-only", "queries-too", "one-layer", "one-head", "one-number-a-key", "one-word", "numbers-for-bytes",
        "bits-for-bytes", "square-heads", "kibibytes",
    ),
)  # fmt: skip
def cache_bytes(**options):
    return _counting(**options)


# ---------------------------------------------------------------- decoding_step


def _apart(projected, d_head):
    """One word's numbers in heads: (..., heads, 1, d_head)."""
    return projected.reshape(*projected.shape[:-1], -1, 1, d_head)


def _interleaved(projected, d_head):
    return projected.reshape(*projected.shape[:-1], d_head, -1).swapaxes(-2, -1)[..., None, :]


def _at_the_end(old, new):
    return np.concatenate([old, new], axis=-2)


def _stepping(
    query_at=lambda S: S,
    key_at=lambda S: S,
    value_at=lambda S: 0,
    joined=_at_the_end,
    cut=_apart,
    before=lambda K: K,
    seen=lambda K: K,
    kept=lambda old, new: new,
    keys=_neighbours,
    values=_neighbours,
    together=lambda heads: heads[..., 0, :].reshape(*heads.shape[:-3], -1),
    end=lambda heads, W_O: heads @ W_O,
    cut_query=None,
    early=False,
    width=lambda x, d_head: d_head,
    cached=lambda words, group: words,
    **options,
):
    """`decoding_step` with each decision an option."""

    def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
        d_head, S = W_Q.shape[-1] // num_heads, 0 if K is None else K.shape[-2]

        def turned(W, at, cut=cut):
            if early and at(1):
                return cut(_rotation()((x @ W)[..., None, :], np.array([at(S)]))[..., 0, :], d_head)
            return _rotation()(cut(x @ W, d_head), np.array([at(S)]))

        query, key, value = turned(W_Q, query_at, cut_query or cut), turned(W_K, key_at), turned(W_V, value_at)
        query = query * x.dtype.type(math.sqrt(d_head / width(x, d_head)))
        new_K, new_V = (key, value) if K is None else (joined(before(K), key), joined(V, value))
        attended = seen(new_K), seen(new_V)
        heads, _ = _grouped(query, *attended, new_K.shape[-3], keys=keys, values=values, **options)
        group = num_heads // new_K.shape[-3]
        return end(together(heads), W_O), cached(kept(K, new_K), group), cached(kept(V, new_V), group)

    return decoding_step


@mistake("keys-and-values-swapped", hint="Which matrix makes a key, and which a value?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    return _stepping()(x, K, V, W_Q, W_V, W_K, W_O, num_heads)


@mistake("fails-without-a-cache", hint="What are K and V before the first word?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    if K is None:
        raise AttributeError("'NoneType' object has no attribute 'shape'")
    return _stepping()(x, K, V, W_Q, W_K, W_V, W_O, num_heads)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def decoding_step(x, K, V, W_Q, W_K, W_V, W_O, num_heads):
    return tuple(np.zeros(part.shape) + part for part in _stepping()(x, K, V, W_Q, W_K, W_V, W_O, num_heads))


TURNED = {
    "query-not-turned": [{"query_at": lambda S: 0}],
    "key-not-turned": [{"key_at": lambda S: 0}],
    "nothing-turned": [{"query_at": lambda S: 0, "key_at": lambda S: 0}],
    "value-turned": [{"value_at": lambda S: S}],
    "one-place-on": [{"query_at": lambda S: S + 1, "key_at": lambda S: S + 1}],
    "one-place-back": [{"query_at": lambda S: max(S - 1, 0), "key_at": lambda S: max(S - 1, 0)}],
    "query-one-place-back": [{"query_at": lambda S: max(S - 1, 0)}, {"query_at": lambda S: S - 1}],
    "query-one-place-on": [{"query_at": lambda S: S + 1}],
    "turned-before-the-split": [{"early": True}],
    "cache-turned-again": [{"before": lambda K: _rotation()(K, np.arange(K.shape[-2]))}],
}
KEPT = {
    "newest-in-front": [{"joined": lambda old, new: np.concatenate([new, old], axis=-2)}],
    "oldest-thrown-away": [{"joined": lambda old, new: np.concatenate([old[..., 1:, :], new], axis=-2)}],
    "newest-written-over-the-last": [{"joined": lambda old, new: np.concatenate([old[..., :-1, :], new], axis=-2)}],
    "itself-not-seen": [{"seen": lambda K: K[..., :-1, :] if K.shape[-2] > 1 else K}],
    "itself-alone-seen": [{"seen": lambda K: K[..., -1:, :]}],
    "cache-not-grown": [{"kept": lambda old, new: new if old is None else old}, {"kept": lambda old, new: old}],
    "repeated-keys-kept": [{"cached": lambda words, group: np.repeat(words, group, axis=-3)}],
    "scale-by-d_model": [{"width": lambda x, d_head: x.shape[-1]}],
    "W_O-missing": [{"end": lambda heads, W_O: heads}],
    "W_O-transposed": [{"end": lambda heads, W_O: heads @ W_O.reshape(W_O.shape[::-1]).T}],
    "heads-interleaved": [{"cut": _interleaved}, {"cut_query": _interleaved}],
}
CACHED = {
    "scale-by-length": "Write down the shape of K. Which of its numbers is the square root of?",
    "query-one-place-back": "At which positions do the newest word's query and its key stand?",
    "query-one-place-on": "At which positions do the newest word's query and its key stand?",
    "turned-before-the-split": "Does each head have a fast pair, or only the first one? When do you turn?",
    "repeated-keys-kept": "How many heads has the cache that came in, and how many the one that goes out?",
    "W_O-transposed": "Which axis of W_O meets what the heads have found?",
    "query-not-turned": "Which two of query, key and value are turned?",
    "key-not-turned": "The keys in the cache have been turned. Has the new one?",
    "nothing-turned": "How does the new word say where it stands?",
    "value-turned": "Of query, key and value, which one is left as it is?",
    "one-place-on": "With no word in the cache, at which position does the first word stand?",
    "one-place-back": "With five words in the cache, at the positions 0 to 4, where does the next one stand?",
    "cache-turned-again": "The keys in the cache have been turned already. What happens to them in your step?",
    "newest-in-front": "Where in the cache does the newest word go: in front, or at the end?",
    "oldest-thrown-away": "How many words are in the cache after the step? Is the first still among them?",
    "newest-written-over-the-last": "How many words are in the cache after the step? Which one has gone?",
    "itself-not-seen": "May the newest word attend to itself?",
    "itself-alone-seen": "What is the cache there for? Whom does the newest word attend to in your step?",
    "cache-not-grown": "What will the next step know of this word?",
    "W_O-missing": "What happens to what the heads have found?",
    "heads-interleaved": "Which columns of W_Q are head 0's: the first d_head, or every so many?",
    "heads-in-turn": "With 6 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
}


@mistake.recipe(
    TURNED
    | KEPT
    | decisions.only(decisions.SCALES, "no-scaling", "scale-by-d_k")
    | decisions.only(decisions.CURVES, "softmax-missing", "not-normalised")
    | decisions.only(decisions.AXES, "softmax-over-queries")
    | {"heads-in-turn": [{"keys": _in_turn, "values": _in_turn}]}
    | decisions.only(WHOLE, "scale-by-length"),
    hints=decisions.HINTS | CACHED,
    held=(
        "query-not-turned", "key-not-turned", "nothing-turned", "value-turned", "one-place-on", "one-place-back",
        "cache-turned-again", "newest-in-front", "oldest-thrown-away", "newest-written-over-the-last",
        "itself-not-seen", "itself-alone-seen", "cache-not-grown", "W_O-missing", "heads-interleaved", "heads-in-turn",
        "no-scaling",
    ),
)  # fmt: skip
def decoding_step(**options):
    return _stepping(**options)


# ---------------------------------------------------------------- sliding_window_mask


def _windowed(
    length,
    window,
    sinks=0,
    *,
    near=lambda i, j, window: i - j < window,
    first=lambda i, j, sinks, length: j < sinks,
    past=lambda i, j: j <= i,
    join=np.logical_or,
    end=lambda mask: mask,
):
    """The mask with each decision an option."""
    j = np.arange(length)
    i = j[:, None]
    shape = (length, length)
    parts = near(i, j, window), first(i, j, sinks, length), past(i, j)
    near_by, at_first, earlier = (np.broadcast_to(part, shape) for part in parts)
    return end(earlier & join(near_by, at_first))


@mistake("both-sides", hint="May a word see what comes later, if it is near?")
def sliding_window_mask(length, window, sinks=0):
    near = lambda i, j, window: abs(i - j) < window  # noqa: E731
    return _windowed(length, window, sinks, near=near, past=lambda i, j: (j <= i) | (abs(i - j) < 10**6))


@mistake("sinks-seen-too-early", hint="May word 0 see a sink that comes later?")
def sliding_window_mask(length, window, sinks=0):
    j = np.arange(length)
    return _windowed(length, window) | (j < sinks)


@mistake("one-sink-too-many", hint="With one sink, does the last word see word 1?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks, first=lambda i, j, sinks, length: (j <= sinks) & (sinks > 0))


@mistake("window-and-sinks", hint="Must a key be near and a sink, or is one of the two enough?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks, join=(np.logical_and if sinks else np.logical_or))


@mistake("sinks-taken-off-the-window", hint="With two sinks and a window of 3, how many words does the last one see?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, max(window - sinks, 1), sinks)


@mistake("round-in-a-circle", hint="Whom does word 0 see? Is the text a circle?")
def sliding_window_mask(length, window, sinks=0):
    i, j = np.arange(length)[:, None], np.arange(length)
    return ((i - j) % length < window) | ((j < sinks) & (j <= i))


@mistake("causal-only", hint="What changes in your mask when the window does?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, length)


@mistake("numbers-for-truth-values", hint="What does ~ make of the number 1? Which dtype has a mask?")
def sliding_window_mask(length, window, sinks=0):
    return _windowed(length, window, sinks).astype(float)


@mistake(
    "fails-for-wide-windows", hint="How many words are there before word 2, and what if the window has room for more?"
)
def sliding_window_mask(length, window, sinks=0):
    if window > length:
        raise IndexError("window is longer than the text")
    return _windowed(length, window, sinks)


def _sinks_behind(i, j, sinks, length):
    return (j < sinks) & (j <= i)


LOOKING = {
    "one-too-many": [{"near": lambda i, j, window: i - j <= window}],
    "one-too-few": [
        {"near": lambda i, j, window: (i - j < window - 1) | (i == j)},
        {"near": lambda i, j, window: i - j < window - 1},
    ],
    "both-sides": [
        {"near": lambda i, j, window: abs(i - j) < window, "past": lambda i, j: i > -1, "first": _sinks_behind},
    ],
    "half-on-each-side": [
        {"near": lambda i, j, window: abs(i - j) <= window // 2, "past": lambda i, j: i > -1, "first": _sinks_behind},
    ],
    "window-and-sinks": [{"join": np.logical_and}],
    "numbers-that-hide": [{"end": lambda mask: np.where(mask, 0.0, -np.inf)}],
    "window-before-the-word": [{"near": lambda i, j, window: (j < i) & (i - j <= window)}],
    "itself-left-out": [{"past": lambda i, j: j < i}],
    "looks-ahead": [{"past": lambda i, j: (j <= i) | (j > i)}],
    "window-ahead": [{"end": lambda mask: mask.T}],
    "in-blocks": [{"near": lambda i, j, window: i // window == j // window}],
    "full-windows-only": [{"near": lambda i, j, window: (i - j < window) & (i >= window - 1)}],
    "one-key-only": [{"near": lambda i, j, window: i - j == window - 1}],
    "inverted": [{"end": lambda mask: ~mask}],
}
SINKING = {
    "sinks-ignored": [{"first": lambda i, j, sinks, length: j < 0}],
    "sinks-as-rows": [{"first": lambda i, j, sinks, length: i < sinks}],
    "sinks-at-the-end": [{"first": lambda i, j, sinks, length: j >= length - sinks}],
    "one-sink-only": [{"first": lambda i, j, sinks, length: (j == 0) & (sinks > 0)}],
    "one-sink-too-many": [{"first": lambda i, j, sinks, length: j <= sinks}],
    "last-sink-only": [{"first": lambda i, j, sinks, length: j == sinks - 1}],
}
WINDOWS = {
    "half-on-each-side": "May a word see what comes later, if it is near?",
    "numbers-that-hide": "What is to be at a place that may be attended to: True, or a number to add?",
    "looks-ahead": "May a word see what comes later, if it is near?",
    "full-windows-only": "Whom does word 0 see through a window of 3?",
    "one-key-only": "How many words does a window of 3 hold?",
    "last-sink-only": "How many columns stay dark in the last row, far from the diagonal?",
    "one-too-many": "Count the words that word 5 sees through a window of 3. Is it one of them?",
    "one-too-few": "Count the words that word 5 sees through a window of 3. Is it one of them?",
    "itself-left-out": "Does a word see itself?",
    "window-before-the-word": "Is the word itself one of the window's words?",
    "window-ahead": "Row i belongs to query i. Does it see what came before, or what comes?",
    "sinks-ignored": "What changes in your mask when there are sinks?",
    "sinks-as-rows": "Is a sink a word that sees all, or one that is seen by all?",
    "sinks-at-the-end": "Which words are the sinks: the first or the last?",
    "one-sink-only": "How many columns stay dark in the last row, far from the diagonal?",
    "in-blocks": "Does the window move with each word, or jump?",
    "inverted": "What does True mean: may attend, or must not?",
}


@mistake.recipe(
    LOOKING | SINKING, hints=WINDOWS,
    held=(
        "one-too-many", "one-too-few", "itself-left-out", "window-before-the-word", "window-ahead", "sinks-ignored",
        "sinks-as-rows", "sinks-at-the-end", "one-sink-only", "in-blocks", "inverted",
    ),
)  # fmt: skip
def sliding_window_mask(**options):
    return lambda length, window, sinks=0: _windowed(length, window, sinks, **options)


# ---------------------------------------------------------------- KeyValueCache


def _first_and_last(number, window, sinks):
    """Of so many words, by place, those that are kept."""
    if window is None or number <= window + sinks:
        return list(range(number))
    return [*range(sinks), *range(number - window, number)]


def _unless_all(left):
    """What is kept once there is a window; without one, everything."""
    return lambda number, window, sinks: list(range(number)) if window is None else left(number, window, sinks)


def _keeping(
    joined=_at_the_end,
    left=_first_and_last,
    left_of_values=None,
    back=lambda K, V, before: (K, V),
    count=lambda K, number: 0 if K is None else K.shape[-2],
):
    """`KeyValueCache` with each decision an option."""

    class KeyValueCache:
        def __init__(self, window=None, sinks=0):
            self.window, self.sinks, self.number = window, sinks, 0
            self.K = self.V = None

        def append(self, key, value):
            before, self.number = (self.K, self.V), self.number + 1
            keep_values = left_of_values or left
            self.K = self.kept(key if self.K is None else joined(self.K, key), left)
            self.V = self.kept(value if self.V is None else joined(self.V, value), keep_values)
            return back(self.K, self.V, before)

        def kept(self, words, left):
            return words[..., left(words.shape[-2], self.window, self.sinks), :]

        def __len__(self):
            return count(self.K, self.number)

    return KeyValueCache


def _everything(number, window, sinks):
    return list(range(number))


def _windows(change):
    """What is kept with another window and other sinks, and the newest word in any case."""
    return _unless_all(lambda number, window, sinks: _first_and_last(number, *change(window, sinks)))


def _overlapping(number, window, sinks):
    places = list(range(number))
    return [*places[:sinks], *places[-window:]]


@mistake("emptied-when-full", hint="The cache is full and a word comes. How many words go?")
class KeyValueCache(
    _keeping(
        left=_unless_all(lambda n, window, sinks: [*range(min(n, sinks)), n - 1] if n > window + sinks else [*range(n)])
    )
):
    pass


@mistake("axis-from-the-front", hint="Which axis holds the words when there are texts in front of the heads?")
class KeyValueCache(_keeping(joined=lambda old, new: np.concatenate([old, new], axis=1))):
    pass


@mistake("keys-alone-given-back", hint="How many things does the docstring of append promise?")
class KeyValueCache(_keeping(back=lambda K, V, before: K)):
    pass


@mistake("a-stacked-pair", hint="What comes back: a tuple of two, or one array with an axis more?")
class KeyValueCache(_keeping(back=lambda K, V, before: [K, V])):
    pass


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
class KeyValueCache(_keeping(back=lambda K, V, before: (np.zeros(K.shape) + K, np.zeros(V.shape) + V))):
    pass


FORGETTING = {
    "nothing-forgotten": [{"left": _everything}],
    "sinks-ignored": [{"left": _windows(lambda window, sinks: (window, 0))}],
    "one-too-many": [{"left": _windows(lambda window, sinks: (window + 1, sinks))}],
    "one-too-few": [
        {"left": _windows(lambda window, sinks: (max(window - 1, 1), sinks))},
        {"left": _windows(lambda window, sinks: (max(window - 1, 0), sinks))},
    ],
    "sinks-taken-off-the-window": [{"left": _windows(lambda window, sinks: (max(window - sinks, 1), sinks))}],
    "one-sink-only": [{"left": _windows(lambda window, sinks: (window, min(sinks, 1)))}],
    "one-sink-too-many": [{"left": _windows(lambda window, sinks: (window, sinks + 1))}],
    "words-twice-in-short-texts": [{"left": _unless_all(_overlapping)}],
    "oldest-kept": [{"left": _unless_all(lambda number, window, sinks: list(range(number))[: window + sinks])}],
}
JOINING = {
    "newest-in-front": [{"joined": lambda old, new: np.concatenate([new, old], axis=-2)}],
    "newest-only": [{"joined": lambda old, new: new}],
    "first-only": [{"joined": lambda old, new: old}],
    "along-the-heads": [{"joined": lambda old, new: np.concatenate([old, new], axis=-3)}],
    "along-the-width": [{"joined": lambda old, new: np.concatenate([old, new], axis=-1)}],
    "added-up": [{"joined": lambda old, new: old + new}],
}
GIVING = {
    "newest-not-given-back": [{"back": lambda K, V, before: (K, V) if before[0] is None else before}],
    "new-word-given-back": [{"back": lambda K, V, before: (K[..., -1:, :], V[..., -1:, :])}],
    "values-first": [{"back": lambda K, V, before: (V, K)}],
    "keys-for-both": [{"back": lambda K, V, before: (K, K)}],
    "keys-alone-forgotten": [{"left_of_values": _everything}],
}
COUNTING = {
    "all-words-counted": [{"count": lambda K, number: number}],
    "heads-counted": [{"count": lambda K, number: 0 if K is None else len(K)}],
    "width-counted": [{"count": lambda K, number: 0 if K is None else K.shape[-1]}],
    "no-length-before-the-first-word": [{"count": lambda K, number: K.shape[-2]}],
}
KEEPING = {
    "one-sink-too-many": "With one sink, which words are left of nine, and is word 1 one of them?",
    "along-the-width": "How wide is a key after three words? Which axis has grown in yours?",
    "added-up": "Do the keys stand one behind the other, or have they become one?",
    "keys-for-both": "What comes in beside the key, and where does it come out?",
    "width-counted": "What is it that len counts: words, or numbers in a key?",
    "nothing-forgotten": "How many words are kept after nine, if the window is 4?",
    "sinks-ignored": "What changes in your cache when there are sinks?",
    "one-too-many": "Count the words that are left of nine, if the window is 4.",
    "one-too-few": "Count the words that are left of nine, if the window is 4. Is the newest one of them?",
    "sinks-taken-off-the-window": "With two sinks and a window of 3, how many words are kept of nine?",
    "one-sink-only": "With two sinks, how many of the first words are kept?",
    "words-twice-in-short-texts": "The first two words and the last three of four: which one do you have twice?",
    "oldest-kept": "The cache is full and a word comes: which one goes, the newest or the oldest that is no sink?",
    "newest-in-front": "Where in the cache does the newest word go: in front, or at the end?",
    "newest-only": "What becomes of the words before when the next one is appended?",
    "first-only": "What becomes of the next word: is it anywhere in what comes back?",
    "newest-not-given-back": "The newest word attends to itself, too. Is it in what append gives back?",
    "new-word-given-back": "Does append give back the one word that came in, or all that are kept?",
    "keys-alone-forgotten": "A key goes. What stands beside it in the cache?",
    "along-the-heads": "With two heads, which shape has K after three words? Which axis has grown in yours?",
    "values-first": "In which order does the docstring name what comes back?",
    "all-words-counted": "Nine words came, four are kept. Which of the two is len?",
    "heads-counted": "What is len of an array of shape (2, 9, 4)?",
    "no-length-before-the-first-word": "What is in the cache before the first word, and how long is it?",
}


@mistake.recipe(
    FORGETTING | JOINING | GIVING | COUNTING, hints=KEEPING,
    held=(
        "nothing-forgotten", "sinks-ignored", "one-too-many", "one-too-few", "sinks-taken-off-the-window",
        "one-sink-only", "words-twice-in-short-texts", "oldest-kept", "newest-in-front", "newest-only", "first-only",
        "newest-not-given-back", "new-word-given-back", "keys-alone-forgotten", "along-the-heads", "values-first",
        "all-words-counted", "heads-counted", "no-length-before-the-first-word",
    ),
)  # fmt: skip
def KeyValueCache(**options):
    return _keeping(**options)


# ---------------------------------------------------------------- online_softmax_step


def _online(
    scale=math.sqrt,
    new=np.maximum,
    shrink_total=lambda old, new: np.exp(old - new),
    shrink_mixed=lambda old, new: np.exp(old - new),
    exps=lambda scores, largest: np.exp(scores - largest[..., None]),
    summed=lambda exps: exps.sum(axis=-1),
    block=lambda exps, V: exps @ V,
    end=lambda largest, total, mixed: (largest, total, mixed),
    before=lambda total, mixed: mixed,
    given_back=lambda old, new: new,
):
    """`online_softmax_step` with each decision an option."""

    def online_softmax_step(largest, total, mixed, Q, K, V):
        scores = Q @ K.swapaxes(-2, -1) / scale(Q.shape[-1])
        found = new(largest, scores.max(axis=-1))
        powers = exps(scores, found)
        mixed = np.asarray(shrink_mixed(largest, found))[..., None] * before(total, mixed) + block(powers, V)
        total = shrink_total(largest, found) * total + summed(powers)
        return end(given_back(largest, found), total, mixed)

    return online_softmax_step


def _ones(old, new):
    return np.ones_like(new)


def _zeros(old, new):
    return np.zeros_like(new)


def _difference(old, new):
    return np.where(np.isfinite(old), old - new, 0)


@mistake("grown-for-shrunk", hint="A larger score turns up. Does the old part count for more now, or for less?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    grow = lambda old, new: np.exp(np.where(np.isfinite(old), new - old, 0))  # noqa: E731
    return _online(shrink_total=grow, shrink_mixed=grow)(largest, total, mixed, Q, K, V)


@mistake("shrunk-twice", hint="By what is the old part multiplied, and how often?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    twice = lambda old, new: np.exp(2 * (old - new))  # noqa: E731
    return _online(shrink_total=twice, shrink_mixed=twice)(largest, total, mixed, Q, K, V)


@mistake(
    "block-shrunk-too", hint="The block's own powers are measured from the new largest score. Do they shrink again?"
)
def online_softmax_step(largest, total, mixed, Q, K, V):
    found = np.maximum(largest, (Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])).max(axis=-1))
    once = np.exp(largest - found)
    exps = lambda scores, largest: np.exp(scores - largest[..., None]) * once[..., None]  # noqa: E731
    return _online(exps=exps)(largest, total, mixed, Q, K, V)


@mistake("largest-kept", hint="What is the largest score after a block that holds a larger one?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    kept = lambda old, block: np.where(np.isfinite(old), old, block)  # noqa: E731
    return _online(new=kept)(largest, total, mixed, Q, K, V)


@mistake("softmax-of-the-block", hint="What does each row of the block's powers sum to? Should it be 1 already?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    def exps(scores, largest):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    return _online(exps=exps)(largest, total, mixed, Q, K, V)


@mistake("values-not-weighted", hint="How much of each value goes into what is mixed?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    plain = lambda exps, V: V.sum(axis=-2, keepdims=True) + 0 * exps[..., :1]  # noqa: E731
    return _online(block=plain)(largest, total, mixed, Q, K, V)


@mistake("total-and-mixed-swapped", hint="In which order does the docstring name the three?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    return _online(end=lambda largest, total, mixed: (largest, mixed, total))(largest, total, mixed, Q, K, V)


@mistake("nan-at-the-beginning", hint="What is -inf minus -inf? Which of your lines meets it before the first block?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    shrink = lambda old, new: np.exp(old - new) + 0 * old  # noqa: E731
    return _online(shrink_total=shrink, shrink_mixed=shrink)(largest, total, mixed, Q, K, V)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    found, new_total, new_mixed = _online()(largest, total, mixed, Q, K, V)
    total[...], mixed[...] = new_total, new_mixed
    return found, total, mixed


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def online_softmax_step(largest, total, mixed, Q, K, V):
    return tuple(np.zeros(part.shape) + part for part in _online()(largest, total, mixed, Q, K, V))


@mistake.recipe(
    {
        "nothing-shrunk": [{"shrink_total": _ones, "shrink_mixed": _ones}],
        "total-not-shrunk": [{"shrink_total": _ones}],
        "mixed-not-shrunk": [{"shrink_mixed": _ones}],
        "grown-for-shrunk": [
            {"shrink_total": lambda old, new: np.exp(new - old), "shrink_mixed": lambda old, new: np.exp(new - old)}
        ],
        "total-grown": [{"shrink_total": lambda old, new: np.exp(new - old)}],
        "mixed-grown": [{"shrink_mixed": lambda old, new: np.exp(new - old)}],
        "largest-of-the-block": [{"new": lambda old, block: block}],
        "largest-kept": [{"new": lambda old, block: old}],
        "nothing-subtracted": [
            {"exps": lambda scores, largest: np.exp(scores)},
            {"new": lambda old, block: 0 * block, "shrink_total": _ones, "shrink_mixed": _ones},
        ],
        "one-largest-for-all": [
            {"new": lambda old, block: np.maximum(old, block).max(axis=-1, keepdims=True) + 0 * block},
            {"new": lambda old, block: np.maximum(old, block.max(axis=-1, keepdims=True))},
        ],
        "old-largest-given-back": [
            {"given_back": lambda old, new: old},
            {"given_back": lambda old, new: np.maximum(old, -1e30)},
        ],
        "old-total-forgotten": [{"shrink_total": _zeros}],
        "old-mixed-forgotten": [{"shrink_mixed": _zeros}],
        "what-came-before-forgotten": [{"shrink_total": _zeros, "shrink_mixed": _zeros}],
        "difference-for-power": [{"shrink_total": _difference, "shrink_mixed": _difference}],
        "another-base": [
            {
                "exps": lambda scores, largest: np.exp2(scores - largest[..., None]),
                "shrink_total": lambda old, new: np.exp2(old - new),
                "shrink_mixed": lambda old, new: np.exp2(old - new),
            }
        ],
        "own-largest-subtracted": [
            {"exps": lambda scores, largest: np.exp(scores - scores.max(axis=-1, keepdims=True))}
        ],
        "divided-in-each-step": [
            {"end": lambda largest, total, mixed: (largest, total, mixed / total[..., None])},
            {
                "end": lambda largest, total, mixed: (largest, total, mixed / total[..., None]),
                "before": lambda total, mixed: mixed * total[..., None],
            },
        ],
        "mean-of-the-block": [{"summed": lambda exps: exps.mean(axis=-1)}],
        "no-scaling": [{"scale": lambda d: 1.0}],
        "scale-by-d_k": [{"scale": lambda d: d}],
        "multiplied-by-the-scale": [{"scale": lambda d: 1 / math.sqrt(d)}],
    },
    hints=decisions.HINTS
    | {
        "total-grown": "A larger score turns up. Does the old total count for more now, or for less?",
        "mixed-grown": "A larger score turns up. Does the old mixture count for more now, or for less?",
        "old-largest-given-back": "What is the largest score after a block that holds a larger one?",
        "old-total-forgotten": "What was summed up before this block: is it in both of your new sums?",
        "old-mixed-forgotten": "What was mixed before this block: is it in both of your new sums?",
        "one-largest-for-all": "How many queries are there, and how many largest scores?",
        "difference-for-power": "By what is e ** (s - 2) multiplied to become e ** (s - 5)?",
        "own-largest-subtracted": "From what are the block's scores measured, and from what the old sums?",
        "nothing-shrunk": "A larger score turns up. What was summed up before: from which score was it measured?",
        "total-not-shrunk": "You shrink what was mixed before. What else was measured from the old largest score?",
        "mixed-not-shrunk": "You shrink the old total. What else was measured from the old largest score?",
        "largest-of-the-block": "The largest score so far: may it become smaller with a new block?",
        "nothing-subtracted": "From what is each score of the block measured before e is raised to it?",
        "what-came-before-forgotten": "What was summed up before this block: is it in your new sums?",
        "divided-in-each-step": "When is what is mixed divided by the total: in each step, or once at the very end?",
        "mean-of-the-block": "Are a block's powers summed up, or is it their mean that you take?",
    },
    held=(
        "nothing-shrunk", "total-not-shrunk", "mixed-not-shrunk", "largest-of-the-block", "nothing-subtracted",
        "what-came-before-forgotten", "divided-in-each-step", "mean-of-the-block", "no-scaling", "scale-by-d_k",
        "one-largest-for-all",
    ),
)  # fmt: skip
def online_softmax_step(**options):
    return _online(**options)


# ---------------------------------------------------------------- online_softmax_attention


def _blockwise(
    starts=lambda S, size: range(0, S, size),
    ends=lambda start, size: start + size,
    beginning=-np.inf,
    total=0.0,
    end=lambda total, mixed: mixed / total[..., None],
    step=_online(),
    after=lambda state: state,
):
    """`online_softmax_attention` with each decision an option."""

    def online_softmax_attention(Q, K, V, block_size):
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


@mistake.recipe(
    {
        "not-divided-at-the-end": [{"end": lambda total, mixed: mixed}],
        "multiplied-at-the-end": [{"end": lambda total, mixed: mixed * total[..., None]}],
        "last-block-left-out": [
            {"starts": lambda S, size: range(0, S // size * size, size) if S >= size else range(0, S, size)},
            {"starts": lambda S, size: range(0, S - size + 1, size)},
        ],
        "first-block-left-out": [{"starts": lambda S, size: range(size, S, size)}],
        "first-block-only": [{"starts": lambda S, size: [0]}],
        "blocks-overlap": [
            {"ends": lambda start, size: start + size + 1},
            {"starts": lambda S, size: range(0, S, max(1, size - 1))},
        ],
        "gaps-between-blocks": [{"ends": lambda start, size: start + max(size - 1, 1)}],
        "largest-begins-at-0": [{"beginning": 0.0}],
        "no-max-subtraction": [{"beginning": 0.0, "step": _online(new=lambda old, block: old)}],
        "largest-of-the-first-block": [{"step": _online(new=lambda old, block: np.where(np.isinf(old), block, old))}],
        "nothing-shrunk": [{"step": _online(shrink_total=_ones, shrink_mixed=_ones)}],
        "total-not-shrunk": [{"step": _online(shrink_total=_ones)}],
        "mixed-not-shrunk": [{"step": _online(shrink_mixed=_ones)}],
        "old-total-forgotten": [{"step": _online(shrink_total=_zeros)}],
        "old-mixed-forgotten": [{"step": _online(shrink_mixed=_zeros)}],
        "largest-of-the-block": [{"step": _online(new=lambda old, block: block)}],
        "no-scaling": [{"step": _online(scale=lambda d: 1.0)}],
        "divided-in-each-step": [{"after": lambda state: (*state[:2], state[2] / state[1][..., None])}],
    },
    hints={
        "first-block-left-out": "Where does the first block begin?",
        "total-not-shrunk": "You shrink what was mixed before. What else was measured from the old largest score?",
        "mixed-not-shrunk": "You shrink the old total. What else was measured from the old largest score?",
        "old-total-forgotten": "What was summed up before a block: is it in both of the new sums?",
        "old-mixed-forgotten": "What was mixed before a block: is it in both of the new sums?",
        "no-max-subtraction": "What is np.exp(1000.0)? From what are the scores of a block measured in yours?",
        "largest-of-the-first-block": "A later block has a score that is larger by thousands. What goes into np.exp?",
        "nothing-shrunk": "A larger score turns up. What was summed up before: from which score was it measured?",
        "largest-of-the-block": "The largest score so far: may it become smaller with a new block?",
        "no-scaling": "What are the dot products divided by?",
        "divided-in-each-step": "When is what is mixed divided by the total: in each step, or once at the very end?",
        "not-divided-at-the-end": "What is left to do after the last block? What have you not used?",
        "multiplied-at-the-end": "In the example, is it 16/3 divided by 4/3, or multiplied?",
        "first-block-only": "How many blocks does your loop go through?",
        "blocks-overlap": "With blocks of 4, where does the second one begin?",
        "gaps-between-blocks": "With blocks of 4, where does the second one begin, and where has the first one ended?",
        "last-block-left-out": "With 9 keys in blocks of 4, how many blocks are there?",
        "largest-begins-at-0": "If all scores are far below zero, what is the largest, and what do you begin with?",
    },
    held=(
        "not-divided-at-the-end", "multiplied-at-the-end", "first-block-only", "blocks-overlap", "gaps-between-blocks",
        "largest-begins-at-0", "last-block-left-out",
    ),
)  # fmt: skip
def online_softmax_attention(**options):
    return _blockwise(**options)


# ---------------------------------------------------------------- rms_norm


def _mean_square(x, axis=-1):
    return (x**2).mean(axis=axis, keepdims=True)


def _normed(
    size=lambda x, eps: np.sqrt(_mean_square(x) + eps),
    scaled=lambda x, size, gamma: gamma * x / size,
    eps=lambda eps: eps,
    before=lambda x: x,
):
    """`rms_norm` with each decision an option."""

    def rms_norm(x, gamma, eps_=1e-5):
        x = before(x)
        return scaled(x, size(x, eps(eps_)), gamma)

    return lambda x, gamma, eps=1e-5: rms_norm(x, gamma, eps)


@mistake("multiplied-by-the-size", hint="If all features are ten times as large, does your result grow?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(scaled=lambda x, size, gamma: gamma * x * size)(x, gamma, eps)


@mistake("sizes-of-features", hint="Whose size do you divide by: that of one word, or of one feature in all words?")
def rms_norm(x, gamma, eps=1e-5):
    axis = 0 if x.ndim > 1 else -1
    return _normed(size=lambda x, eps: np.sqrt(_mean_square(x, axis) + eps))(x, gamma, eps)


@mistake("eps-outside-the-root", hint="What is eps added to: the mean of the squares or its root?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(size=lambda x, eps: np.sqrt(_mean_square(x)) + eps)(x, gamma, eps)


@mistake("another-default-eps", hint="Which eps does the first line of the stub give?")
def rms_norm(x, gamma, eps=1e-8):
    return _normed()(x, gamma, eps)


@mistake("gamma-first", hint="Is the size taken of x, or of x times gamma?")
def rms_norm(x, gamma, eps=1e-5):
    return _normed(before=lambda x: gamma * x, scaled=lambda x, size, gamma: x / size)(x, gamma, eps)


@mistake("axis-summed-away", hint="A mean has one axis less than x. Which argument of mean keeps it?")
def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt((x**2).mean(axis=-1) + eps)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def rms_norm(x, gamma, eps=1e-5):
    x /= np.sqrt(_mean_square(x) + eps)
    return gamma * x


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def rms_norm(x, gamma, eps=1e-5):
    return np.zeros(x.shape) + _normed()(x, gamma, eps)


@mistake.recipe(
    {
        "mean-subtracted": [{"before": lambda x: x - x.mean(axis=-1, keepdims=True)}],
        "spread-for-size": [{"size": lambda x, eps: np.sqrt(x.var(axis=-1, keepdims=True) + eps)}],
        "length-for-size": [
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)},
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True)) + eps},
        ],
        "no-root": [{"size": lambda x, eps: _mean_square(x) + eps}],
        "no-squares": [
            {"size": lambda x, eps: np.abs(x).mean(axis=-1, keepdims=True) + eps},
            {"size": lambda x, eps: np.sqrt(np.abs(x).mean(axis=-1, keepdims=True) ** 2 + eps)},
            {"size": lambda x, eps: np.sqrt(np.abs(x).mean(axis=-1, keepdims=True) + eps)},
        ],
        "largest-for-size": [
            {"size": lambda x, eps: np.abs(x).max(axis=-1, keepdims=True) + eps},
            {"size": lambda x, eps: np.sqrt((x**2).max(axis=-1, keepdims=True) + eps)},
        ],
        "one-size-for-all": [{"size": lambda x, eps: np.sqrt((x**2).mean() + eps)}],
        "sizes-of-features": [{"size": lambda x, eps: np.sqrt(_mean_square(x, 0 if x.ndim == 1 else -2) + eps)}],
        "divided-by-n-minus-1": [
            {"size": lambda x, eps: np.sqrt((x**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1) + eps)}
        ],
        "gamma-missing": [{"scaled": lambda x, size, gamma: x / size}],
        "gamma-plus-1": [{"scaled": lambda x, size, gamma: (1 + gamma) * x / size}],
        "gamma-added": [{"scaled": lambda x, size, gamma: x / size + gamma}],
        "gamma-divided": [{"scaled": lambda x, size, gamma: x / (size * gamma)}],
        "eps-missing": [{"eps": lambda eps: 0.0}],
        "eps-fixed": [{"eps": lambda eps: 1e-5}, {"eps": lambda eps: 1e-6}, {"eps": lambda eps: 1e-8}],
    },
    hints={
        "divided-by-n-minus-1": "In the example 84 is divided by a number. By which, and by which in yours?",
        "gamma-divided": "Is gamma multiplied, or do you divide by it?",
        "mean-subtracted": "Is the mean taken off? What does the norm of this exercise leave out?",
        "spread-for-size": "Your squares are of distances from the mean. Of what should they be?",
        "length-for-size": "Of the squares, is it the sum or the mean?",
        "no-root": "If all features are ten times as large, how much larger is what you divide by?",
        "no-squares": "Root, mean, square: which of the three is not there? What if the features sum to 0?",
        "largest-for-size": "Is a vector divided by its largest feature, or by all of them together?",
        "one-size-for-all": "How many sizes are there for five words, and how many do you have?",
        "eps-missing": "What becomes of a word whose features are all 0? Which argument does your code not use?",
        "eps-fixed": "A caller may give another eps. Does yours listen?",
        "gamma-missing": "Which argument does your code not use?",
        "gamma-plus-1": "With gamma = 1, what should be the size of the result?",
        "gamma-added": "Is gamma multiplied or added?",
    },
    held=(
        "mean-subtracted", "spread-for-size", "length-for-size", "no-root", "no-squares", "largest-for-size",
        "one-size-for-all", "eps-missing", "eps-fixed", "gamma-missing", "gamma-plus-1", "gamma-added",
    ),
)  # fmt: skip
def rms_norm(**options):
    return _normed(**options)


# ---------------------------------------------------------------- gated_feed_forward


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _silu(z):
    return z * _sigmoid(z)


def _gelu(z):
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def _itself(z):
    return z


def _relu(z):
    return np.maximum(z, 0)


def _feeding(
    curve=_silu,
    other=_itself,
    join=lambda gate, up: gate * up,
    swap=False,
    end=lambda hidden, W_down, x: hidden @ W_down,
    after=_itself,
):
    """`gated_feed_forward` with each decision an option."""

    def gated_feed_forward(x, W_gate, W_up, W_down):
        W_gate, W_up = (W_up, W_gate) if swap else (W_gate, W_up)
        return end(after(join(curve(x @ W_gate), other(x @ W_up))), W_down, x)

    return gated_feed_forward


@mistake("gate-for-both", hint="Which of the three matrices does your code not use?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _feeding()(x, W_gate, W_gate, W_down)


@mistake("curve-at-the-end", hint="Between which two steps of the formula does SiLU stand? What comes last?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _silu(_feeding(curve=_itself)(x, W_gate, W_up, W_down))


@mistake("overflows", hint="What is np.exp(1000.0), and what is it divided by itself?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return _feeding(curve=lambda z: z * (np.exp(z) / (np.exp(z) + 1)))(x, W_gate, W_up, W_down)


@mistake("W_down-transposed", hint="Which axis of W_down meets the numbers of the layer between?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    end = lambda hidden, W_down, x: hidden @ W_down.reshape(W_down.shape[::-1]).T  # noqa: E731
    return _feeding(end=end)(x, W_gate, W_up, W_down)


@mistake("in-place", hint="Whose array do you write into?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    x[...] = _feeding()(x, W_gate, W_up, W_down)
    return x


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def gated_feed_forward(x, W_gate, W_up, W_down):
    return np.zeros(x.shape) + _feeding()(x, W_gate, W_up, W_down)


CURVES = {
    "sigmoid-for-silu": [{"curve": _sigmoid}],
    "relu-for-silu": [{"curve": _relu}],
    "gelu-for-silu": [
        {"curve": _gelu},
        {"curve": lambda z: z * _sigmoid(1.702 * z)},
        {"curve": lambda z: z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))},
    ],
    "tanh-for-silu": [{"curve": np.tanh}],
    "no-curve": [{"curve": _itself}],
    "sign-flipped": [{"curve": lambda z: z * _sigmoid(-z)}],
    "softplus-for-silu": [{"curve": lambda z: np.log1p(np.exp(z))}],
    "softmax-for-silu": [{"curve": lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)}],
}


@mistake.recipe(
    CURVES
    | {
        "gate-and-up-swapped": [{"swap": True}],
        "both-through-the-curve": [{"other": _silu}],
        "curve-after-the-product": [{"curve": _itself, "after": _silu}],
        "added-for-multiplied": [{"join": lambda gate, up: gate + up}],
        "gate-alone": [{"join": lambda gate, up: gate}],
        "up-alone": [{"join": lambda gate, up: up}],
        "residual-added": [{"end": lambda hidden, W_down, x: x + hidden @ W_down}],
    },
    hints={
        "softplus-for-silu": "What does SiLU make of 0: 0, or 0.69?",
        "softmax-for-silu": "Do the numbers of a gate share something, or does each open and close on its own?",
        "sigmoid-for-silu": "What does SiLU make of 10: about 1, or about 10?",
        "relu-for-silu": "What does your curve make of -1: exactly 0?",
        "gelu-for-silu": "Which curve does the formula name? What does it make of 1: 0.73 or 0.84?",
        "tanh-for-silu": "What does SiLU make of 10: about 1, or about 10?",
        "no-curve": "What happens to the gate before it meets the other layer?",
        "gate-and-up-swapped": "Through which of the two layers does SiLU go?",
        "both-through-the-curve": "Through how many of the two layers does SiLU go?",
        "curve-after-the-product": "What goes through SiLU: the gate, or what the gate lets through?",
        "added-for-multiplied": "A gate that is shut: how much of the other layer should get through?",
        "gate-alone": "Which of the three matrices does your code not use?",
        "up-alone": "Which of the three matrices does your code not use?",
        "sign-flipped": "In the sigmoid, e is raised to which power: z or -z? What does yours make of 10?",
        "residual-added": "What else is in your result besides the last layer's?",
    },
    held=(
        "sigmoid-for-silu", "relu-for-silu", "gelu-for-silu", "tanh-for-silu", "no-curve", "gate-and-up-swapped",
        "both-through-the-curve", "curve-after-the-product", "added-for-multiplied", "gate-alone", "up-alone",
        "sign-flipped", "residual-added",
    ),
)  # fmt: skip
def gated_feed_forward(**options):
    return _feeding(**options)


# ---------------------------------------------------------------- ModernDecoderBlock


def _torch_turn(x, place, base=10000.0, turn=_right_turn, halves=False):
    d = x.shape[-1]
    angle = place.unsqueeze(-1) * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    if halves:
        return torch.cat(turn(*x.chunk(2, dim=-1), cos, sin), dim=-1)
    return torch.stack(turn(x[..., 0::2], x[..., 1::2], cos, sin), dim=-1).flatten(-2)


def _torch_size_one(x, gamma):
    return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)


def _another_eps(eps, outside):
    def size_one(x, gamma):
        mean_square = (x**2).mean(dim=-1, keepdim=True)
        return gamma * x / (mean_square.sqrt() + eps if outside else (mean_square + eps).sqrt())

    return size_one


def _torch_layer_norm(x, gamma):
    return F.layer_norm(x, x.shape[-1:], gamma)


def _by_heads(heads, place):
    """Each head turned by its own number."""
    return _torch_turn(heads.transpose(-3, -2), torch.arange(heads.shape[-3])).transpose(-3, -2)


def _window_alone(back, window):
    return back >= 0 if window is None else back < window


class _Block(nn.Module):
    """A right block, with each decision a member that another class may have otherwise."""

    bias = False
    turned = ("query", "key")
    turn = staticmethod(_torch_turn)
    places = staticmethod(lambda length: torch.arange(length))
    normed = staticmethod(_torch_size_one)
    shared = staticmethod(lambda x, group: x.repeat_interleave(group, dim=-3))
    may_see = staticmethod(lambda back, window: (back >= 0) & (True if window is None else back < window))
    scale = staticmethod(lambda d_head, d_model: math.sqrt(d_head))
    first = staticmethod(lambda x, branch, normed: x + branch)
    second = staticmethod(lambda x, branch, normed: x + branch)
    input_of_second = staticmethod(lambda before, after: after)
    curve = staticmethod(F.silu)
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) * up)
    ahead = 0  # by how many places queries are turned more than keys
    norms = ("norm_1", "norm_2")  # in front of which branch
    post = False  # or behind each branch
    plain = ()  # layers that read the words in front of the norm
    start_of_second = staticmethod(lambda before, after: after)
    last = staticmethod(lambda block, x: x)
    early = False  # are queries and keys turned before they are split into heads?
    joined = staticmethod(lambda heads: heads.transpose(-3, -2).flatten(-2))

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, window=None):
        super().__init__()
        self.d_head, self.group, self.window = d_model // num_heads, num_heads // num_kv_heads, window
        narrow = num_kv_heads * self.d_head
        self.norm_1, self.norm_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_Q = nn.Linear(d_model, d_model, bias=self.bias)
        self.W_K = nn.Linear(d_model, narrow, bias=self.bias)
        self.W_V = nn.Linear(d_model, narrow, bias=self.bias)
        self.W_O = nn.Linear(d_model, d_model, bias=self.bias)
        self.W_gate = nn.Linear(d_model, d_ff, bias=self.bias)
        self.W_up = nn.Linear(d_model, d_ff, bias=self.bias)
        self.W_down = nn.Linear(d_ff, d_model, bias=self.bias)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)  # the same answer each time

    def attend(self, x, plain):
        place = self.places(x.shape[-2])
        found = {}
        for name, layer in (("query", self.W_Q), ("key", self.W_K), ("value", self.W_V)):
            projected = layer(plain if f"W_{name[0].upper()}" in self.plain else x)
            at = place + (self.ahead if name == "query" else 0)
            if self.early and name in self.turned:
                projected = self.turn(projected, at)
            heads = projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)
            found[name] = self.turn(heads, at) if name in self.turned and not self.early else heads
        key, value = self.shared(found["key"], self.group), self.shared(found["value"], self.group)
        scores = found["query"] @ key.transpose(-2, -1) / self.scale(self.d_head, x.shape[-1])
        back = torch.arange(x.shape[-2]).unsqueeze(-1) - torch.arange(x.shape[-2])
        seen = self.may_see(back, self.window)
        scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        return self.W_O(self.joined(torch.softmax(scores, dim=-1) @ value))

    def forward(self, x):
        one, two = (getattr(self, name) for name in self.norms)
        if self.post:
            x = self.normed(x + self.attend(x, x), one)
            return self.normed(x + self.fed(x, x), two)
        normed = self.normed(x, one)
        after = self.first(x, self.attend(normed, x), normed)
        read = self.input_of_second(x, after)
        hidden = self.normed(read, two)
        return self.last(self, self.second(self.start_of_second(x, after), self.fed(hidden, read), hidden))

    def fed(self, hidden, plain):
        gate, up = (
            layer(plain if name in self.plain else hidden)
            for name, layer in (("W_gate", self.W_gate), ("W_up", self.W_up))
        )
        return self.W_down(self.gate_and_up(gate, up, self.curve))


@mistake("mask-missing", hint="Which words may word 0 see?")
class ModernDecoderBlock(_Block):
    may_see = staticmethod(lambda back, window: (back > -(10**6)) & (True if window is None else back < window))


@mistake("mask-upside-down", hint="Which words may word 0 see, and which ones the last word?")
class ModernDecoderBlock(_Block):
    may_see = staticmethod(lambda back, window: (back <= 0) & (True if window is None else -back < window))


@mistake("norm-missing", hint="What goes into each branch: x, or x brought to size one?")
class ModernDecoderBlock(_Block):
    normed = staticmethod(lambda x, gamma: x * gamma)


@mistake("gamma-missing", hint="A norm has a scale for each feature. Is it used?")
class ModernDecoderBlock(_Block):
    normed = staticmethod(lambda x, gamma: _torch_size_one(x, 1 + 0 * gamma))


@mistake("no-gate", hint="Are there two layers side by side, of which one is the other's gate?")
class ModernDecoderBlock(_Block):
    gate_and_up = staticmethod(lambda gate, up, curve: curve(gate) + 0 * up)


@mistake("biases", hint="How many biases are there in the table?")
class ModernDecoderBlock(_Block):
    bias = True


@mistake("positions-from-1-for-queries", hint="A word and itself: how far apart are they, and how far in your scores?")
class ModernDecoderBlock(_Block):
    ahead = 1


@mistake("heads-not-brought-together", hint="Take one word: do its own numbers of all heads stand side by side?")
class ModernDecoderBlock(_Block):
    joined = staticmethod(lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1))


@mistake("detached-gradient", hint="Which operations hand on a gradient, and is every step one of those?")
class ModernDecoderBlock(_Block):
    first = staticmethod(lambda x, branch, normed: x + branch.detach())


@mistake("output-too-many", hint="How many things does forward give back?")
class ModernDecoderBlock(_Block):
    def forward(self, x):
        return super().forward(x), self.attend(x, x)


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
class ModernDecoderBlock(_Block):
    def forward(self, x):
        result = super().forward(x)
        with torch.no_grad():
            x.detach().add_(1.0)
        return result


@mistake.recipe(
    {
        "positions-missing": [{"turned": ()}],
        "query-not-turned": [{"turned": ("key",)}],
        "key-not-turned": [{"turned": ("query",)}],
        "values-turned": [{"turned": ("query", "key", "value")}],
        "turned-before-the-split": [{"early": True}],
        "pairs-in-halves": [{"turn": lambda x, place: _torch_turn(x, place, halves=True)}],
        "heads-in-turn": [{"shared": lambda x, group: torch.cat([x] * group, dim=-3)}],
        "window-ignored": [{"may_see": lambda back, window: back >= 0}],
        "mask-missing": [{"may_see": lambda back, window: back > -(10**6)}],
        "layer-norm": [{"normed": _torch_layer_norm}],
        "no-residual-around-attention": [{"first": lambda x, branch, normed: branch}],
        "no-residual-around-feed-forward": [{"second": lambda x, branch, normed: branch}],
        "residual-of-the-normed": [
            {
                "first": lambda x, branch, normed: normed + branch,
                "second": lambda x, branch, normed: normed + branch,
            },
            {"first": lambda x, branch, normed: normed + branch},
            {"second": lambda x, branch, normed: normed + branch},
        ],
        "norm-behind-each-branch": [{"post": True}],
        "first-norm-for-both": [{"norms": ("norm_1", "norm_1")}],
        "second-norm-for-both": [{"norms": ("norm_2", "norm_2")}],
        "turned-by-heads": [{"turn": _by_heads}],
        "mask-missing-with-a-window": [{"may_see": _window_alone}],
        "another-eps": [{"normed": _another_eps(eps, outside)} for eps in (1e-6, 1e-8) for outside in (False, True)],
        "window-one-too-wide": [
            {"may_see": lambda back, window: (back >= 0) & (True if window is None else back <= window)}
        ],
        "branches-side-by-side": [{"input_of_second": lambda before, after: before}],
        "second-residual-from-the-input": [{"start_of_second": lambda before, after: before}],
        "branch-alone-read": [{"input_of_second": lambda before, after: after - before}],
        "input-added-again": [{"start_of_second": lambda before, after: before + after}],
        "first-norm-missing": [{"plain": ("W_Q", "W_K", "W_V")}],
        "second-norm-missing": [{"plain": ("W_gate", "W_up")}],
        "plain-words-read": [
            {"plain": layers}
            for layers in (("W_up",), ("W_gate",), ("W_V",), ("W_K",), ("W_Q",), ("W_K", "W_V"), ("W_Q", "W_K"))
        ],
        "attention-lost": [{"first": lambda x, branch, normed: x}],
        "feed-forward-lost": [{"second": lambda x, branch, normed: x}],
        "branch-doubled": [
            {"first": lambda x, branch, normed: x + 2 * branch},
            {"second": lambda x, branch, normed: x + 2 * branch},
        ],
        "normed-at-the-end-too": [{"last": lambda block, x: block.normed(x, block.norm_2)}],
        "second-norm-at-the-end": [
            {"plain": ("W_gate", "W_up"), "last": lambda block, x: block.normed(x, block.norm_2)}
        ],
        "no-scaling": [{"scale": lambda d_head, d_model: 1.0}],
        "scale-by-d_model": [{"scale": lambda d_head, d_model: math.sqrt(d_model)}],
        "relu-for-silu": [{"curve": F.relu}],
        "gelu-for-silu": [{"curve": F.gelu}],
        "sigmoid-for-silu": [{"curve": torch.sigmoid}],
        "gate-and-up-swapped": [{"gate_and_up": lambda gate, up, curve: gate * curve(up)}],
    },
    hints={
        "gelu-for-silu": "Which curve does the formula name?",
        "sigmoid-for-silu": "What does SiLU make of 10: about 1, or about 10?",
        "norm-behind-each-branch": "What is brought to size one: what goes into a branch, or the sum behind it?",
        "first-norm-for-both": "How many norms does the table of members name, and how many do you use?",
        "second-norm-for-both": "How many norms does the table of members name, and how many do you use?",
        "another-eps": "To what is epsilon added, and how large is it?",
        "turned-by-heads": "By what is a query turned: by its word's place, or by its head's number?",
        "mask-missing-with-a-window": "With a window, may word 0 see what comes later?",
        "second-residual-from-the-input": "What is the second branch added to: does what attention gave survive?",
        "branch-alone-read": "What does the feed-forward network read: the sum, or what attention found alone?",
        "input-added-again": "If both branches gave zeros, how often would x be in the output?",
        "first-norm-missing": "What goes into the attention: x, or x brought to size one?",
        "second-norm-missing": "What goes into the feed-forward network: its words, or its words brought to size one?",
        "plain-words-read": "Go through the layers: which read the words behind a norm, and which as they came?",
        "attention-lost": "Does a word's output change if an earlier word does?",
        "feed-forward-lost": "Is the result of the feed-forward network used?",
        "branch-doubled": "Set a branch to zero: what is left of x? And what is each branch multiplied by?",
        "normed-at-the-end-too": "How often is each norm used?",
        "second-norm-at-the-end": "What goes into the feed-forward network, and what happens to the sum behind it?",
        "positions-missing": "Shuffle the words before the last one. Does the last one notice?",
        "query-not-turned": "Which two of query, key and value are turned?",
        "key-not-turned": "Which two of query, key and value are turned?",
        "values-turned": "Of query, key and value, which one is left as it is?",
        "turned-before-the-split": "Does each head have a fast pair, or only the first one? When do you turn?",
        "pairs-in-halves": "Which column of a head is turned together with column 0?",
        "heads-in-turn": "With 6 query heads and 2 of keys, do heads 0 and 1 share, or heads 0 and 2?",
        "window-ignored": "With a window of 3, does word 6 hear from word 0?",
        "window-one-too-wide": "How many words does word 6 see through a window of 3, itself among them?",
        "layer-norm": "Is the mean taken off in this notebook's norm?",
        "no-residual-around-attention": "What is the attention's result added to?",
        "no-residual-around-feed-forward": "What is the feed-forward network's result added to?",
        "residual-of-the-normed": "The way past a branch: does it begin before the norm or behind it?",
        "branches-side-by-side": "What does the feed-forward network work on: what went in, or what attention gave?",
        "no-scaling": "What are the dot products divided by before the softmax?",
        "scale-by-d_model": "How wide is a query of one head, and is that the number below your square root?",
        "relu-for-silu": "What does your curve make of -1: exactly 0?",
        "gate-and-up-swapped": "Through which of the two layers does SiLU go?",
    },
    held=(
        "positions-missing", "query-not-turned", "key-not-turned", "values-turned", "turned-before-the-split",
        "pairs-in-halves", "heads-in-turn", "window-ignored", "window-one-too-wide", "layer-norm",
        "no-residual-around-attention", "no-residual-around-feed-forward", "residual-of-the-normed",
        "branches-side-by-side", "no-scaling", "scale-by-d_model", "relu-for-silu", "gate-and-up-swapped",
    ),
)  # fmt: skip
def ModernDecoderBlock(**options):
    made = {name: staticmethod(option) if callable(option) else option for name, option in options.items()}
    return type("ModernDecoderBlock", (_Block,), made)
