"""Known mistakes of ov_circuit."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import BY_H, FEW, HINTS, PRODUCTS, columns_of, strided

mistake = Catalogue()


@mistake(
    "W_O-reshaped-by-columns", hint="Head 0 meets the first d rows of W_O. Which numbers does your reshape give it?"
)
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    return V @ W_O.reshape(W_O.shape[1], num_heads, -1).transpose(1, 2, 0)


@mistake("values-with-values", hint="Which argument is in your formula twice, and which one is missing?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    return V @ V.swapaxes(-2, -1)


@mistake("residual-added", hint="The word itself goes on beside the heads. Is it part of what this head copies?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return V @ rows + np.eye(len(W_V), dtype=W_V.dtype)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return (V @ rows).astype(np.float64)


@mistake("a-list", hint="What kind of thing does the docstring promise?")
def ov_circuit(W_V, W_O, num_heads):
    V = W_V.reshape(len(W_V), num_heads, -1).swapaxes(0, 1)
    rows = W_O.reshape(num_heads, -1, W_O.shape[1])
    return list(V @ rows)


def _rows(W, h):
    """Each head's rows, (h, d, d_model)."""
    return W.reshape(h, -1, W.shape[1])


@mistake.mutants(
    {
        **PRODUCTS,
        "heads-averaged": mistake.known(
            BY_H, hint="Heads add up what they have found. Is anything divided by how many they are?"
        ),
        "transposed": mistake.known(
            {"turn": lambda M: M.swapaxes(-2, -1)},
            hint="A word stands on the left, as a row. What comes out at the right?",
        ),
        "heads-interleaved": mistake.known({"columns": strided, "rows": lambda W, h: strided(W.T, h).swapaxes(-2, -1)}),
        "columns-interleaved": mistake.known(
            {"columns": strided},
            hint="Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        ),
        "rows-interleaved": mistake.known(
            {"rows": lambda W, h: strided(W.T, h).swapaxes(-2, -1)},
            hint="Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        ),
        "reshaped-not-split": mistake.known({"columns": lambda W, h: W.reshape(h, W.shape[0], -1)}),
        "first-rows-for-all": mistake.known(
            {"rows": lambda W, h: _rows(W, h)[:1]}, hint="Through whose rows of W_O does head 1 speak?"
        ),
        "identity-of-ones": mistake.mutant(
            {"end": lambda M: M + 1},
            hint="What is added to your matrix? And what has an identity beside its diagonal?",
        ),
        "first-values-for-all": mistake.mutant(
            {"columns": lambda W, h: columns_of(W, h)[:1]}, hint="Whose columns of W_V go with head 1's rows of W_O?"
        ),
        "values-of-all-heads": mistake.mutant(
            {"columns": lambda W, h: columns_of(W, h).sum(axis=0)},
            hint="Whose columns of W_V go with a head's rows of W_O?",
        ),
        "heads-mixed": mistake.known(
            {"rows": lambda W, h: _rows(W, h)[::-1]},
            {"rows": lambda W, h: np.roll(_rows(W, h), -1, axis=0)},
            {"rows": lambda W, h: np.roll(_rows(W, h), 1, axis=0)},
            hint="Through whose rows of W_O does head 0 speak?",
        ),
        "heads-and-width-exchanged": mistake.mutant(
            {"count": lambda h, width: width // h},
            hint="Is num_heads how many heads there are, or how wide one of them is?",
        ),
        "widths-of-a-head": mistake.known({"product": lambda values, out: out @ values}),
    },
    hints=HINTS
    | FEW
    | {
        "head-0-for-all": "Which columns go into the matrix of head 1?",
        "scaled": "Where does the square root belong: to the scores, or to what is copied?",
    },
    catalogued=(
        "some-heads-only",
        "all-heads-together",
        "heads-summed",
        "heads-reversed",
        "head-0-for-all",
        "scaled",
        "heads-last",
        "one-head-too-few",
    ),
)
def ov_circuit(
    columns=columns_of,
    rows=_rows,
    product=lambda values, out: values @ out,
    turn=lambda M: M,
    end=lambda M: M,
    factor=lambda h, d, width: 1.0,
    count=lambda h, width: h,
):
    def circuit(W_V, W_O, num_heads):
        num_heads = count(num_heads, W_V.shape[1])
        scale = factor(num_heads, W_V.shape[1] // num_heads, len(W_V))
        return end(turn(product(columns(W_V, num_heads), rows(W_O, num_heads)) * W_V.dtype.type(scale)))

    return circuit
