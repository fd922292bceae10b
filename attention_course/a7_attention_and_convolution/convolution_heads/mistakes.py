"""Known mistakes of convolution_heads."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import ORDERS, WORDS, rule

mistake = Catalogue()


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
    return rule(k), W_V, np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


@mistake("kernel-twice", hint="W_V and W_O share the work. How often is the kernel in the product of the two?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    square = kernel.swapaxes(1, 2) @ kernel
    return rule(k), kernel.copy(), square.reshape(k * d_out, d_out)


@mistake("W_O-interleaved", hint="Which rows of W_O meet head 0: the first d_v, or every k-th?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return rule(k), W_V, kernel.swapaxes(0, 1).reshape(k * d_in, d_out)


@mistake("W_O-transposed", hint="Which axis of a head's rows in W_O meets the head's values?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return rule(k), W_V, kernel.swapaxes(1, 2).reshape(k * d_in, d_out)


@mistake("W_O-lies-down", hint="(rows, columns): what does a word's concatenated heads meet, and what comes out?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = np.tile(np.eye(d_in, dtype=kernel.dtype), (k, 1, 1))
    return rule(k), W_V, kernel.reshape(k * d_in, d_out).T


@mistake("heads-side-by-side", hint="Is there one matrix of values a head in your W_V, with the heads first?")
def convolution_heads(kernel):
    k, d_in, d_out = kernel.shape
    W_V = kernel.swapaxes(0, 1).reshape(d_in, k * d_out)
    return rule(k), W_V, np.tile(np.eye(d_out, dtype=kernel.dtype), (k, 1))


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def convolution_heads(kernel):
    k, _, d_out = kernel.shape
    return rule(k), kernel.copy(), np.tile(np.eye(d_out), (k, 1))


def _stacked(eye, k):
    return np.tile(eye, (k, 1))


@mistake.mutants(
    {name: ways for name, ways in ORDERS.items() if name != "kernel-flipped"}
    | {
        "kernel-flipped": mistake.known({"taps": -1}, {"order": -1}, {"sign": -1}),
        "heads-averaged": mistake.known(
            {"out": lambda eye, k: np.tile(eye, (k, 1)) / k}, {"matrices": lambda kernel: kernel / len(kernel)}
        ),
        "identity-rows-repeated": mistake.mutant(
            {"out": lambda eye, k: np.repeat(eye, k, axis=0)},
            hint="Print W_O. Which rows are head 0's, and what do they make of its first number?",
        ),
        "W_O-of-one-head": mistake.mutant(
            {"out": lambda eye, k: eye},
            {"out": lambda eye, k: np.eye(k * len(eye), len(eye), dtype=eye.dtype)},
            hint="How many rows has W_O, whose are they, and what do those of the second head do?",
        ),
        "ones-for-the-identity": [{"out": lambda eye, k: np.ones((k * len(eye), len(eye)), dtype=eye.dtype)}],
        "W_O-lies-down": [{"out": lambda eye, k: np.tile(eye, (1, k))}],
        "one-tap-for-all": mistake.known(
            {"matrices": lambda kernel: kernel[(len(kernel) - 1) // 2]},
            {"matrices": lambda kernel: kernel.sum(axis=0)},
            {"matrices": lambda kernel: kernel.mean(axis=0)},
            {"matrices": lambda kernel: kernel[0]},
            hint="Which tap's matrix does each of your heads have?",
        ),
        "one-tap-too-few": [{"some": lambda k: k - 1}],
        "offsets-of-three-taps": mistake.mutant(
            {"listed": lambda offsets: [-1, 0, 1]},
            hint="How many taps has the kernel, and how many offsets do you return?",
        ),
        "kernel-transposed": mistake.mutant({"turned": True}, hint="Which axis of a tap meets the columns of X?"),
    },
    (("", {}), ("", {"listed": np.array}), ("", {"in_W_O": True}), ("", {"in_W_O": True, "listed": np.array})),
    hints=WORDS,
    catalogued=(
        "offsets-from-0",
        "looks-back-only",
        "even-off-by-one",
    ),
)
def convolution_heads(
    order=1, taps=1, sign=1, before=lambda k: (k - 1) // 2, some=lambda k: k, turned=False, listed=list,
    out=_stacked, matrices=lambda kernel: kernel, in_W_O=False,
):  # fmt: skip
    """in_W_O: whether W_O holds the taps, and W_V passes on its input"""

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
