"""Known mistakes of a7: offsets, heads for a kernel, the convolution they make, and the test for translation."""

import numpy as np

from autograder.diagnosis.catalogue import Catalogue

mistake = Catalogue()

# ---------------------------------------------------------------- offset_attention


# Written out, since tests hand it in.
@mistake("offset-of-the-wrong-sign", hint="For offset 1, does the first word look at the second, or the second back?")
def offset_attention(length, offset):
    return np.eye(length, k=-offset)


@mistake("all-up-to-the-offset", hint="How many keys does a tap listen to: one, or all up to its place?")
def offset_attention(length, offset):
    allowed = np.tri(length, k=offset)
    return allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1)


@mistake("one-place-for-all", hint="Does every query look at the same key, or at the one next to itself?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    if abs(offset) < length:
        weights[:, offset] = 1
    return weights


@mistake("offset-unused", hint="What changes in your weights when the offset does?")
def offset_attention(length, offset):
    weights = np.eye(length)
    weights[: max(0, -offset)] = 0
    weights[max(0, length - offset) :] = 0
    return weights


@mistake("negative-index", hint="In Python, which column is weights[0, -1]? And which one is past the end?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    for i in range(length):
        weights[i, i + offset] = 1
    return weights


@mistake("past-the-end-only", hint="Which keys lie outside: only those past the end?")
def offset_attention(length, offset):
    weights = np.zeros((length, length))
    for i in range(length):
        if i + offset < length:
            weights[i, i + offset] = 1
    return weights


@mistake("truth-values", hint="Which dtype has your table: are those numbers that values can be multiplied with?")
def offset_attention(length, offset):
    place = np.arange(length)
    return place == place[:, None] + offset


# ---------------------------------------------------------------- convolution_heads


def _rule(k):
    return [j - (k - 1) // 2 for j in range(k)]


@mistake("half-offsets", hint="An offset counts places. Can it be a half?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    offsets = [j - (k - 1) / 2 for j in range(k)]
    return offsets, kernel.copy(), np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


@mistake("only-the-centre", hint="Do the other heads bring anything?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    W_V = np.zeros_like(kernel)
    W_V[(k - 1) // 2] = kernel[(k - 1) // 2]
    return _rule(k), W_V, np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


@mistake("kernel-twice", hint="W_V and W_O share the work. How often is the kernel in the product of the two?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    square = kernel.swapaxes(1, 2) @ kernel
    return _rule(k), kernel.copy(), square.reshape(k * d_out, d_out)


@mistake("W_O-interleaved", hint="Which rows of W_O meet head 0: the first d_v, or every k-th?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return _rule(k), W_V, kernel.swapaxes(0, 1).reshape(k * d_in, d_out)


@mistake("W_O-transposed", hint="Which axis of a head's rows in W_O meets the head's values?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return _rule(k), W_V, kernel.swapaxes(1, 2).reshape(k * d_in, d_out)


@mistake("W_O-lies-down", hint="(rows, columns): what does a word's concatenated heads meet, and what comes out?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return _rule(k), W_V, kernel.reshape(k * d_in, d_out).T


@mistake("heads-side-by-side", hint="Is there one matrix of values a head in your W_V, with the heads first?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = kernel.swapaxes(0, 1).reshape(d_in, k * d_out)
    return _rule(k), W_V, np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    return _rule(k), kernel.copy(), np.tile(np.eye(d_out), (k, 1))


# ---------------------------------------------------------------- convolution_by_attention


def _by_taps(X, kernel, offsets, weights):
    """The sum over the taps of what each hears, times its matrix; and whom each attends to."""
    heads = np.stack([weights(len(X), o).astype(X.dtype) for o in offsets])  # (k, L, L)
    return np.sum([A @ X @ tap for A, tap in zip(heads, kernel, strict=True)], axis=0), heads


def _shifted(length, offset):
    return np.eye(length, k=offset)


def _wrapped(length, offset):
    return np.roll(np.eye(length), offset, axis=1)


def _nearest(length, offset):
    return np.eye(length)[np.clip(np.arange(length) + offset, 0, length - 1)]


def _mirrored(length, offset):
    key = np.abs(np.arange(length) + offset)
    key = np.where(key > length - 1, 2 * (length - 1) - key, key)
    return (key[:, None] == np.arange(length)).astype(float)


def _mirrored_with_the_last(length, offset):
    """The word at the border comes twice."""
    key = (np.arange(length) + offset) % (2 * length)
    return np.eye(length)[np.where(key < length, key, 2 * length - 1 - key)]


def _from_the_end(length, offset):
    """What lies before the first counts from the end; what lies behind the last is left out."""
    key = np.arange(length)[:, None] + offset
    return ((key == np.arange(length)) | (key + length == np.arange(length))).astype(float)


def _filled(what):
    """A row without a key gets another one."""

    def reach(length, offset):
        weights = np.eye(length, k=offset)
        return np.where(weights.any(axis=1, keepdims=True), weights, what(length))

    return reach


def _softmaxed(length, offset):
    exps = np.exp(np.eye(length, k=offset))
    return exps / exps.sum(axis=1, keepdims=True)


MIRRORED = [{"reach": _mirrored}, {"reach": _mirrored_with_the_last}]


def _right(X, kernel):
    return _by_taps(X, kernel, _rule(len(kernel)), _shifted)


@mistake("border-made-up-for", hint="At the first word one tap hears nothing. Do the others have to make up for it?")
def convolution_by_attention(X, kernel):
    offsets, place = _rule(len(kernel)), np.arange(len(X))
    hearing = sum(((place + o >= 0) & (place + o < len(X))).astype(X.dtype) for o in offsets)
    factor = (len(kernel) / np.maximum(hearing, 1)).astype(X.dtype)
    output, weights = _right(X, kernel)
    return output * factor[:, None], weights


@mistake("border-left-empty", hint="Rows near the border have fewer taps that hear something. Are they all zero?")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    output, weights = _right(X, kernel)
    inside = (np.arange(L) >= (k - 1) // 2) & (np.arange(L) < L - k // 2)
    return np.where(inside[:, None], output, 0).astype(X.dtype), weights


@mistake("border-cut-off", hint="How many rows went in, and how many came out?")
def convolution_by_attention(X, kernel):
    k, L = len(kernel), len(X)
    output, weights = _right(X, kernel)
    return output[(k - 1) // 2 : max(L - k // 2, (k - 1) // 2 + 1)], weights


@mistake("only-the-centre", hint="Do the neighbours of a word have any part in its result?")
def convolution_by_attention(X, kernel):
    return X @ kernel[(len(kernel) - 1) // 2], _right(X, kernel)[1]


@mistake("weights-transposed", hint="Row i of the weights is query i's. Do your words move the way they look?")
def convolution_by_attention(X, kernel):
    return _by_taps(X, kernel, _rule(len(kernel)), lambda L, o: np.eye(L, k=o).T)


@mistake("concat-without-transpose", hint="Take one word: do its own numbers of all heads stand side by side?")
def convolution_by_attention(X, kernel):
    k, d_in, d_out = kernel.shape
    weights = _right(X, kernel)[1]
    return (weights @ X).reshape(len(X), k * d_in) @ kernel.reshape(k * d_in, d_out), weights


@mistake("taps-transposed", hint="Which axis of a tap's matrix meets the numbers of a word?")
def convolution_by_attention(X, kernel):
    k, d_in, d_out = kernel.shape
    return _right(X, kernel.swapaxes(1, 2).reshape(k, d_in, d_out))


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def convolution_by_attention(X, kernel):
    heads = np.stack([np.eye(len(X), k=o) for o in _rule(len(kernel))])
    return sum(A @ X @ tap for A, tap in zip(heads, kernel, strict=True)), heads


@mistake("output-only", hint="How many things does the docstring promise? Where are the heads?")
def convolution_by_attention(X, kernel):
    return _right(X, kernel)[0]


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def convolution_by_attention(X, kernel):
    return _right(X, kernel)[::-1]


@mistake("weights-added-up", hint="One picture a head: how many heads are there, and how many of your weights?")
def convolution_by_attention(X, kernel):
    output, weights = _right(X, kernel)
    return output, weights.sum(axis=0)


ORDERS = {
    "kernel-flipped": [{"order": -1}],
    "offsets-from-0": [{"before": lambda k: 0}],
    "looks-back-only": [{"before": lambda k: k - 1}],
    "even-off-by-one": [{"before": lambda k: k // 2}],
    "one-further": [{"before": lambda k: (k - 1) // 2 - 1}],
    "one-back": [{"before": lambda k: (k - 1) // 2 + 1}],
}
# What several exercises ask.
WORDS = {
    "one-further": "Where does tap 0 of a kernel of 3 look: one place before the word?",
    "one-back": "Where does tap 0 of a kernel of 3 look: one place before the word?",
    "offset-of-the-wrong-sign": "Where does tap 0 of a kernel of 3 look: before the word, or behind it?",
    "one-tap-too-few": "Count your heads. How many taps has the kernel?",
    "mirrored-at-the-border": "The key would stand outside. Is the text a mirror, with its words once more behind it?",
    "past-the-end-only": "Which keys lie outside: only those past the end?",
    "itself-at-the-border": "A query whose key lies outside: does it look at itself in its place?",
    "softmax-taken": "How much weight has a key that is not the one asked for?",
    "offsets-from-0": "Of three taps, which one listens at the place itself: the first or the middle one?",
    "looks-back-only": "Of three taps, which one listens at the place itself: the last or the middle one?",
    "even-off-by-one": "Two taps have no middle. Which places does the table give them?",
    "heads-averaged": "Does a convolution add its taps up, or take their mean?",
    "kernel-flipped": "Tap 0 is the leftmost. Does it hear what stands to the left?",
}


@mistake.recipe(
    ORDERS
    | {
        "heads-averaged": [{"mean": True}, {"mean": "those that hear"}],
        "wraps-around": [{"reach": _wrapped}],
        "border-repeated": [{"reach": _nearest}],
        "mirrored-at-the-border": MIRRORED,
        "past-the-end-only": [{"reach": _from_the_end}],
        "border-evened-out": [{"reach": _filled(lambda length: 1 / length)}],
        "itself-at-the-border": [{"reach": _filled(np.eye)}],
        "softmax-taken": [{"reach": _softmaxed}],
        "one-matrix-for-all-taps": [
            {"matrices": lambda kernel: kernel.sum(axis=0)},
            {"matrices": lambda kernel: kernel.mean(axis=0)},
            {"matrices": lambda kernel: kernel[(len(kernel) - 1) // 2]},
            {"matrices": lambda kernel: kernel[0]},
            {"matrices": lambda kernel: kernel[-1]},
        ],
        "offset-of-the-wrong-sign": [{"sign": -1}],
        "weights-transposed": [{"seen": lambda weights: weights.swapaxes(-2, -1)}],
        "one-tap-too-few": [{"some": lambda k: k - 1}],
        "first-tap-only": [{"some": lambda k: 1}],
        "concat-without-transpose": [{"mixed": True}],
    },
    hints=WORDS | {
        "first-tap-only": "How many taps has the kernel, and how many reach your sum?",
        "one-matrix-for-all-taps": "Take a kernel whose taps differ. Which matrix does the left neighbour meet?",
        "border-repeated": "What lies outside counts as what: the last word, or zero?",
        "border-evened-out": "A tap that finds no word: does it hear the mean of all words, or nothing?",
        "wraps-around": "A tap listens before the first word. Which word does it hear in yours?",
    },
    held=(
        "kernel-flipped", "wraps-around", "border-repeated", "border-evened-out", "heads-averaged", "even-off-by-one",
        "offsets-from-0", "looks-back-only",
    ),
)  # fmt: skip
def convolution_by_attention(
    order=1, mean=False, reach=_shifted, before=lambda k: (k - 1) // 2, sign=1, seen=lambda w: w, some=lambda k: k,
    matrices=lambda kernel: kernel, mixed=False,
):  # fmt: skip
    def convolution_by_attention(X, kernel):
        k = len(kernel)
        kernel = np.broadcast_to(matrices(kernel), kernel.shape)
        offsets = [sign * (j - before(k)) for j in range(k)]
        if mixed:
            weights = np.stack([reach(len(X), offset).astype(X.dtype) for offset in offsets])
            joined = (weights @ X @ kernel[::order]).reshape(len(X), k, -1)
            return joined.sum(axis=1), seen(weights)
        output, weights = _by_taps(X, kernel[::order][: some(k)], offsets[: some(k)], reach)
        if mean == "those that hear":
            output = output / np.maximum(weights.sum(axis=(0, 2)), 1)[:, None]
        return output / (k if mean is True else 1), seen(weights)

    return convolution_by_attention


@mistake.recipe(
    {
        "offset-of-the-wrong-sign": [{"sign": -1}],
        "one-further": [{"more": 1}],
        "one-back": [{"more": -1}],
        "offset-doubled": [{"sign": 2}],
        "wraps-around": [{"reach": _wrapped}],
        "clipped-at-the-border": [{"reach": _nearest}],
        "mirrored-at-the-border": MIRRORED,
        "past-the-end-only": [{"reach": _from_the_end}],
        "evened-out-at-the-border": [{"reach": _filled(lambda length: 1 / length)}],
        "itself-at-the-border": [{"reach": _filled(np.eye)}],
        "softmax-taken": [{"reach": _softmaxed}],
        "first-word-at-the-border": [{"reach": _filled(lambda length: np.eye(length)[0])}],
        "offset-without-its-sign": [{"of": abs}, {"of": lambda offset: -abs(offset)}],
        "last-key-missing": [{"end": lambda weights: np.pad(weights[:, :-1], ((0, 0), (0, 1)))}],
        "first-key-missing": [{"end": lambda weights: np.pad(weights[:, 1:], ((0, 0), (1, 0)))}],
        "both-sides": [{"end": lambda weights: np.maximum(weights, weights.T)}],
    },
    hints=WORDS
    | {
        "both-sides": "With offset 1, how many keys may a query look at?",
        "last-key-missing": "May a query look at the last word? Where does your comparison end?",
        "first-key-missing": "May a query look at the first word? Where does your comparison begin?",
        "offset-doubled": "How far does a query look at offset 1, and how far at offset 2?",
        "first-word-at-the-border": "A query whose key lies outside: does it look at another word in its place?",
        "offset-without-its-sign": "Is offset -2 the same as 2?",
        "clipped-at-the-border": "The key would stand outside. Does the last word that there is take its place?",
        "evened-out-at-the-border": "A row with nothing to attend to: does it have to sum to 1?",
        "wraps-around": "Whom does the first word look at when it looks back? Is the sentence a circle?",
        "one-further": "Try offset 0: which word should each word look at?",
        "one-back": "Try offset 0: which word should each word look at?",
    },
    held=("wraps-around", "clipped-at-the-border", "evened-out-at-the-border", "one-further", "one-back"),
)
def offset_attention(sign=1, more=0, reach=_shifted, end=lambda weights: weights, of=lambda offset: offset):
    return lambda length, offset: end(reach(length, sign * of(offset) + more))


def _stacked(eye, k):
    return np.tile(eye, (k, 1))


@mistake.recipe(
    {name: ways for name, ways in ORDERS.items() if name != "kernel-flipped"}
    | {
        "kernel-flipped": [{"taps": -1}, {"order": -1}, {"sign": -1}],
        "heads-averaged": [{"out": lambda eye, k: np.tile(eye, (k, 1)) / k}],
        "identity-rows-repeated": [{"out": lambda eye, k: np.repeat(eye, k, axis=0)}],
        "W_O-of-one-head": [
            {"out": lambda eye, k: eye},
            {"out": lambda eye, k: np.eye(k * len(eye), len(eye), dtype=eye.dtype)},
        ],
        "W_O-lies-down": [{"out": lambda eye, k: np.tile(eye, (1, k))}],
        "one-tap-for-all": [
            {"matrices": lambda kernel: kernel[(len(kernel) - 1) // 2]},
            {"matrices": lambda kernel: kernel.sum(axis=0)},
            {"matrices": lambda kernel: kernel.mean(axis=0)},
            {"matrices": lambda kernel: kernel[0]},
        ],
        "one-tap-too-few": [{"some": lambda k: k - 1}],
        "kernel-transposed": [{"turned": True}],
    },
    (("", {}), ("", {"listed": np.array}), ("", {"in_W_O": True}), ("", {"in_W_O": True, "listed": np.array})),
    hints=WORDS
    | {
        "kernel-transposed": "Which axis of a tap meets the columns of X?",
        "identity-rows-repeated": "Print W_O. Which rows are head 0's, and what do they make of its first number?",
        "W_O-of-one-head": "How many rows has W_O, whose are they, and what do those of the second head do?",
        "one-tap-for-all": "Which tap's matrix does each of your heads have?",
    },
    held=(
        "kernel-flipped", "offsets-from-0", "looks-back-only", "even-off-by-one", "heads-averaged", "one-tap-for-all",
    ),
)  # fmt: skip
def convolution_heads(
    order=1, taps=1, sign=1, before=lambda k: (k - 1) // 2, some=lambda k: k, turned=False, listed=list,
    out=_stacked, matrices=lambda kernel: kernel, in_W_O=False,
):  # fmt: skip
    """in_W_O: does W_O have the taps, and W_V hand on what it gets?"""

    def convolution_heads(kernel):
        k, _, d_out = kernel.shape
        values = np.broadcast_to(matrices(kernel), kernel.shape)[::taps]
        values = (values.swapaxes(1, 2) if turned else values).copy()
        offsets = listed([sign * (j - before(k)) for j in range(k)][::order][: some(k)])
        if in_W_O and out is _stacked:
            eye = np.eye(values.shape[1], dtype=kernel.dtype)
            return offsets, np.tile(eye, (k, 1, 1)), values.reshape(-1, values.shape[2])
        return offsets, values, out(np.eye(d_out, dtype=kernel.dtype), k).astype(kernel.dtype)

    return convolution_heads


# ---------------------------------------------------------------- translation_test


def _compared(L, shift, margin):
    """The rows i for which i and i + shift both lie inside the margins."""
    return np.arange(max(margin, margin - shift), min(L - margin, L - margin - shift))


def _near(one, other):
    return bool(np.allclose(one, other, atol=1e-6))


@mistake("always-true", hint="What would have to happen for your function to return False?")
def translation_test(layer, X, shift, margin):
    return bool(layer(X).shape == layer(np.roll(X, shift, axis=0)).shape)


@mistake("columns-roll-along", hint="Move a small X by 1 as you do it there. Where did the last number of row 0 go?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return _near(layer(X)[i], layer(np.roll(X, shift))[i + shift])


@mistake("only-to-the-right", hint="Work out by hand which rows you compare for a shift of -1.")
def translation_test(layer, X, shift, margin):
    L = len(X)
    before, after = layer(X), layer(np.roll(X, shift, axis=0))
    return _near(before[margin : L - margin - shift], after[margin + shift : L - margin])


@mistake("no-shift-breaks", hint="Which rows do you compare for a shift of 0? Print them.")
def translation_test(layer, X, shift, margin):
    before, after = layer(X), layer(np.roll(X, shift, axis=0))
    if shift > 0:
        before, after = before[:-shift], after[shift:]
    else:
        before, after = before[-shift:], after[:shift]
    end = len(before) - margin
    return _near(before[margin:end], after[margin:end])


@mistake("margin-0-compares-nothing", hint="Which rows do you compare for a margin of 0? Print them.")
def translation_test(layer, X, shift, margin):
    expected = np.roll(layer(X), shift, axis=0)
    got = layer(np.roll(X, shift, axis=0))
    inside = slice(margin, -margin)
    rows = np.arange(len(X))[inside]
    rows = rows[(rows - shift >= margin) & (rows - shift < len(X) - margin)] if margin else rows
    return _near(got[rows], expected[rows])


@mistake("one-row-only", hint="Could a layer be right at the row you look at, and wrong at others?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)[0]
    return _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift])


@mistake("means-compared", hint="Two outputs with the same mean: are they the same?")
def translation_test(layer, X, shift, margin):
    return _near(layer(X).mean(), layer(np.roll(X, shift, axis=0)).mean())


@mistake("shift-unused", hint="By how many rows do you move X?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), 1, margin)
    return _near(layer(X)[i], layer(np.roll(X, 1, axis=0))[i + 1])


@mistake("own-input", hint="Which rows does the layer get from you: those of X?")
def translation_test(layer, X, shift, margin):
    X = np.random.default_rng(0).normal(size=X.shape)
    i = _compared(len(X), shift, margin)
    return _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift])


@mistake("difference-not-verdict", hint="You know how far the outputs are apart. Is that True or False?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return float(np.abs(layer(X)[i] - layer(np.roll(X, shift, axis=0))[i + shift]).max())


@mistake("one-or-zero", hint="Which type has a comparison in Python?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return 1 if _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift]) else 0


@mistake("X-changed", hint="After the call, what does the caller's X hold?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    before = layer(X)
    X[:] = np.roll(X, shift, axis=0)
    return _near(before[i], layer(X)[i + shift])


@mistake.recipe(
    {
        "borders-compared": [{"inside": 0}],
        "border-on-one-side": [{"ends": (1, 0)}, {"ends": (0, 1)}],
        "border-of-one-output": [{"pairs": "rows of the first"}, {"pairs": "rows of the second"}],
        "what-came-in-compared": [{"pairs": "round the end"}, {"pairs": "round the beginning"}],
        "margin-grows-with-the-shift": [{"inside": 2}],
        "order-of-rows-lost": [{"alike": lambda a, b: _near(np.sort(a, axis=0), np.sort(b, axis=0))}],
        "difference-with-a-sign": [
            {"alike": lambda a, b: bool((a - b < 1e-6).all())},
            {"alike": lambda a, b: bool((b - a < 1e-6).all())},
        ],
        "means-compared": [{"alike": lambda a, b: bool(abs((a - b).mean()) < 1e-6)}],
        "not-close-enough": [{"alike": lambda a, b: bool(np.allclose(a, b, atol=0.1))}],
        "last-row-left-out": [{"last": -1}],
        "rows-lost": [{"fill": "zeros"}],
        "shifted-the-wrong-way": [{"way": -1}],
        "input-not-moved": [{"way": 0}],
        "output-not-moved": [{"back": 0}],
        "output-moved-the-wrong-way": [{"back": -1}],
        "to-the-last-bit": [{"alike": np.array_equal}],
        "one-column-only": [{"columns": 1}],
        "any-for-all": [
            {"alike": lambda a, b: bool(np.isclose(a, b, rtol=1e-6, atol=1e-6).any())},
            {"alike": lambda a, b: any(_near(x, y) for x, y in zip(a, b, strict=True))},
        ],
        "answer-turned-round": [{"alike": lambda a, b: not _near(a, b)}],
    },
    hints={
        "output-moved-the-wrong-way": "Row i of the first output: at which row of the second is it found again?",
        "answer-turned-round": "For which of the two does your function say True?",
        "what-came-in-compared": "Which rows of the moved X came in at the other end? Do you compare them?",
        "order-of-rows-lost": "Two outputs of the same rows in another order: are they the same?",
        "margin-grows-with-the-shift": "Which is the first row that you leave out, and is it inside the margins?",
        "difference-with-a-sign": "Is -3 a difference, too? What does your comparison make of it?",
        "borders-compared": "Which rows does the margin leave out?",
        "border-on-one-side": "A text has two ends. Which rows does your margin leave out at the second one?",
        "border-of-one-output": "Row i lies inside the margins. Does row i + shift, too?",
        "shifted-the-wrong-way": "Row i of X stands at which row of the moved X: i + shift or i - shift?",
        "output-not-moved": "The input has moved. At which row should the same numbers be in the second output?",
        "input-not-moved": "Which input does the layer get the second time?",
        "rows-lost": "A layer that looks at all rows: does it see the same rows after your shift?",
        "one-column-only": "Could a layer be right in the column you look at, and wrong in others?",
        "any-for-all": "Is it enough that some numbers are equal?",
        "last-row-left-out": "Which is the last row that you compare, and which is the last one inside the margin?",
        "to-the-last-bit": "Are two floating numbers equal when they differ in the sixteenth digit?",
        "not-close-enough": "How large may a difference be that is only rounding?",
    },
    held=(
        "borders-compared", "border-on-one-side", "border-of-one-output", "shifted-the-wrong-way", "output-not-moved",
        "input-not-moved", "rows-lost", "one-column-only", "any-for-all", "last-row-left-out", "to-the-last-bit",
        "not-close-enough",
    ),
)  # fmt: skip
def translation_test(
    inside=1, ends=(1, 1), fill="roll", way=1, back=1, alike=_near, columns=None, pairs="inside", last=None,
):  # fmt: skip
    def translation_test(layer, X, shift, margin):
        L = len(X)
        moved = np.roll(X, way * shift, axis=0)
        if fill == "zeros":
            moved = np.zeros_like(X)
            for i in range(L):
                if 0 <= i + way * shift < L:
                    moved[i + way * shift] = X[i]
        margin = margin + abs(shift) if inside == 2 else inside * margin
        low, high = margin * ends[0], L - margin * ends[1]
        i = np.arange(low, high)
        if pairs in ("inside", "rows of the first"):
            j, edge = i + back * shift, (low, high) if pairs == "inside" else (0, L)
            i = i[(j >= edge[0]) & (j < edge[1])]
        elif pairs == "rows of the second":
            i = i[(i - back * shift >= 0) & (i - back * shift < L)] - back * shift
        elif pairs == "round the end":
            i = (i - back * shift) % L
        i = i[:last]
        return bool(alike(layer(X)[i, :columns], layer(moved)[(i + back * shift) % L, :columns]))

    return translation_test
