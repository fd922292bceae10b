"""Known mistakes of qk_circuit."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import BY_H, FEW, HINTS, PRODUCTS, columns_of, strided

mistake = Catalogue()


def _overlapping(W, h):
    """Each head's columns begin one place after those of the head before, (h, d_model, d)."""
    d = W.shape[1] // h
    return np.stack([W[:, i : i + d] for i in range(h)])


@mistake("softmax-taken", hint="What a head looks for is a matrix of scores. Do its rows have to sum to 1?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    M = Q @ K.swapaxes(-2, -1)
    exps = np.exp(M - M.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    return (Q @ K.swapaxes(-2, -1)).astype(np.float64)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    return list(Q @ K.swapaxes(-2, -1))


@mistake.mutants(
    {
        **PRODUCTS,
        "averaged": mistake.known(BY_H, hint="Is anything divided on the way from a word to its score?"),
        "keys-first": mistake.known(
            {"operands": lambda Q, K: (K, Q)},
            hint="In x_i M x_j, whose word stands on the left: the one that looks, or the one looked at?",
        ),
        "queries-with-queries": mistake.known(
            {"operands": lambda Q, K: (Q, Q)}, hint="Which argument is in your formula twice, and which one is missing?"
        ),
        "keys-with-keys": mistake.known(
            {"operands": lambda Q, K: (K, K)}, hint="Which argument is in your formula twice, and which one is missing?"
        ),
        "heads-mixed": mistake.known(
            {"operands": lambda Q, K: (Q, K[::-1])},
            {"operands": lambda Q, K: (Q, np.roll(K, 1, axis=0))},
            {"operands": lambda Q, K: (Q, np.roll(K, -1, axis=0))},
            hint="Whose keys does head 0's query meet?",
        ),
        "heads-interleaved": mistake.known({"cut": strided}),
        "first-columns-for-all": mistake.mutant(
            {"operands": lambda Q, K: (Q, K[:1])},
            {"operands": lambda Q, K: (Q[:1], K)},
            hint="Which columns of W_Q and which of W_K are head 1's?",
        ),
        "heads-overlap": mistake.mutant(
            {"cut": _overlapping}, hint="Head 0 of width 4 has the columns 0 to 3. With which one does head 1 begin?"
        ),
        "reshaped-not-split": mistake.known({"cut": lambda W, h: W.reshape(h, W.shape[0], -1)}),
        "heads-and-width-exchanged": mistake.mutant(
            {"count": lambda h, width: width // h},
            hint="Is num_heads how many heads there are, or how wide one of them is?",
        ),
        "widths-of-a-head": mistake.known({"product": lambda Q, K: Q.swapaxes(-2, -1) @ K}),
        # A square root by NumPy is a float64, and makes the product one.
        "scaled": mistake.known(
            *PRODUCTS["scaled"],
            *({**way, "cast": lambda scale, dtype: np.float64(scale)} for way in PRODUCTS["scaled"]),
            hint="Is the square root part of the matrix here? Look at what the docstring promises.",
        ),
    },
    hints=HINTS
    | FEW
    | {
        "head-0-for-all": "Which columns go into the matrix of head 1?",
    },
    catalogued=(
        "some-heads-only",
        "all-heads-together",
        "heads-summed",
        "heads-reversed",
        "heads-last",
        "head-0-for-all",
        "one-head-too-few",
    ),
)
def qk_circuit(cut=columns_of, operands=lambda Q, K: (Q, K), product=lambda Q, K: Q @ K.swapaxes(-2, -1),
               end=lambda M: M, factor=lambda h, d, width: 1.0,
               count=lambda h, width: h, cast=lambda scale, dtype: dtype.type(scale)):  # fmt: skip
    def circuit(W_Q, W_K, num_heads):
        num_heads = count(num_heads, W_Q.shape[1])
        Q, K = operands(cut(W_Q, num_heads), cut(W_K, num_heads))
        scale = factor(num_heads, W_Q.shape[1] // num_heads, len(W_Q))
        return end(product(Q, K) * cast(scale, W_Q.dtype))

    return circuit
