"""Known mistakes of convolution_by_attention."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import (
    ALIKE,
    BANDS,
    ENDS,
    MIRRORED,
    ORDERS,
    SOFT,
    WORDS,
    filled,
    from_the_end,
    nearest,
    rule,
    shifted,
    wrapped,
)

mistake = Catalogue()


def _by_taps(X, kernel, offsets, weights):
    """The sum over the taps of what each attends to, times its matrix; and the taps' weights."""
    heads = np.stack([weights(len(X), o).astype(X.dtype) for o in offsets])  # (k, L, L)
    return np.sum([A @ X @ tap for A, tap in zip(heads, kernel, strict=True)], axis=0), heads


def _right(X, kernel):
    return _by_taps(X, kernel, rule(len(kernel)), shifted)


@mistake("border-made-up-for", hint="At the first word one tap hears nothing. Do the others have to make up for it?")
def convolution_by_attention(X, kernel):
    offsets, place = rule(len(kernel)), np.arange(len(X))
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
    return _by_taps(X, kernel, rule(len(kernel)), lambda L, o: np.eye(L, k=o).T)


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
    heads = np.stack([np.eye(len(X), k=o) for o in rule(len(kernel))])
    return sum(A @ X @ tap for A, tap in zip(heads, kernel, strict=True)), heads


@mistake("output-only", hint="How many things does the docstring promise? Where are the heads?")
def convolution_by_attention(X, kernel):
    return _right(X, kernel)[0]


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def convolution_by_attention(X, kernel):
    return _right(X, kernel)[::-1]


@mistake("weights-added-up", hint="One picture per head: how many heads are there, and how many of your weights?")
def convolution_by_attention(X, kernel):
    output, weights = _right(X, kernel)
    return output, weights.sum(axis=0)


@mistake.mutants(
    ORDERS
    | {
        "heads-averaged": mistake.known({"mean": True}, {"mean": "those that hear"}),
        "wraps-around": mistake.known(
            {"reach": wrapped}, hint="A tap listens before the first word. Which word does it hear in yours?"
        ),
        "border-repeated": mistake.known(
            {"reach": nearest}, hint="What lies outside counts as what: the last word, or zero?"
        ),
        "mirrored-at-the-border": MIRRORED,
        "past-the-end-only": [{"reach": from_the_end}],
        "border-evened-out": mistake.known(
            {"reach": filled(lambda length: 1 / length)},
            hint="A tap that finds no word: does it hear the mean of all words, or nothing?",
        ),
        "itself-at-the-border": [{"reach": filled(np.eye)}],
        "softmax-taken": SOFT,
        "every-key-alike": ALIKE,
        "all-up-to-the-offset": BANDS,
        "stops-at-a-length": mistake.known(*reversed(ENDS)),
        "one-matrix-for-all-taps": mistake.mutant(
            {"matrices": lambda kernel: kernel.sum(axis=0)},
            {"matrices": lambda kernel: kernel.mean(axis=0)},
            {"matrices": lambda kernel: kernel[(len(kernel) - 1) // 2]},
            {"matrices": lambda kernel: kernel[0]},
            {"matrices": lambda kernel: kernel[-1]},
            hint="Take a kernel whose taps differ. Which matrix does the left neighbour meet?",
        ),
        "offset-of-the-wrong-sign": [{"sign": -1}],
        # What is returned is transposed, or what the output is made of.
        "weights-transposed": [{"seen": lambda weights: weights.swapaxes(-2, -1)}, {"used": "transposed"}],
        "tap-looked-up-by-offset": mistake.mutant(
            {"matrices": lambda kernel: np.roll(kernel, (len(kernel) - 1) // 2, axis=0)},
            hint="Which tap is kernel[-1] in Python, and which one listens one place to the left?",
        ),
        "one-tap-too-few": [
            {"some": lambda k: k - 1},
            {"unheard": lambda k: slice(k - 1, None)},
            {"unheard": lambda k: slice(1)},
        ],
        "first-tap-only": mistake.mutant(
            {"some": lambda k: 1}, hint="How many taps has the kernel, and how many reach your sum?"
        ),
        "concat-without-transpose": [{"mixed": True}],
    },
    hints=WORDS,
    catalogued=(
        "kernel-flipped",
        "even-off-by-one",
        "offsets-from-0",
        "looks-back-only",
    ),
)
def convolution_by_attention(
    order=1, mean=False, reach=shifted, before=lambda k: (k - 1) // 2, sign=1, seen=lambda w: w, some=lambda k: k,
    matrices=lambda kernel: kernel, mixed=False, unheard=None, used="as returned",
):  # fmt: skip
    def convolution_by_attention(X, kernel):
        k = len(kernel)
        kernel = np.broadcast_to(matrices(kernel), kernel.shape)
        if unheard:
            kernel = kernel.copy()
            kernel[unheard(k)] = 0
        offsets = [sign * (j - before(k)) for j in range(k)]
        if mixed:
            weights = np.stack([reach(len(X), offset).astype(X.dtype) for offset in offsets])
            joined = (weights @ X @ kernel[::order]).reshape(len(X), k, -1)
            return joined.sum(axis=1), seen(weights)
        output, weights = _by_taps(X, kernel[::order][: some(k)], offsets[: some(k)], reach)
        if used == "transposed":
            output = sum(A.T @ X @ tap for A, tap in zip(weights, kernel[::order], strict=True))
        if mean == "those that hear":
            output = output / np.maximum(weights.sum(axis=(0, 2)), 1)[:, None]
        return output / (k if mean is True else 1), seen(weights)

    return convolution_by_attention
