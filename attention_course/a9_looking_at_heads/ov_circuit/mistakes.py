"""Known mistakes of ov_circuit."""

import numpy as np

from autograder.suites import Catalogue

from ..shared_mistakes import BY_H, HINTS, PRODUCTS, columns_of, strided

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


@mistake.recipe(
    {
        **PRODUCTS,
        "heads-averaged": [BY_H],
        "transposed": [{"turn": lambda M: M.swapaxes(-2, -1)}],
        "heads-interleaved": [{"columns": strided, "rows": lambda W, h: strided(W.T, h).swapaxes(-2, -1)}],
        "columns-interleaved": [{"columns": strided}],
        "rows-interleaved": [{"rows": lambda W, h: strided(W.T, h).swapaxes(-2, -1)}],
        "reshaped-not-split": [{"columns": lambda W, h: W.reshape(h, W.shape[0], -1)}],
        "first-rows-for-all": [{"rows": lambda W, h: _rows(W, h)[:1]}],
        "values-of-all-heads": [{"columns": lambda W, h: columns_of(W, h).sum(axis=0)}],
        "heads-mixed": [
            {"rows": lambda W, h: _rows(W, h)[::-1]},
            {"rows": lambda W, h: np.roll(_rows(W, h), -1, axis=0)},
            {"rows": lambda W, h: np.roll(_rows(W, h), 1, axis=0)},
        ],
        "widths-of-a-head": [{"product": lambda values, out: out @ values}],
    },
    hints=HINTS | {
        "values-of-all-heads": "Whose columns of W_V go with a head's rows of W_O?",
        "transposed": "A word stands on the left, as a row. What comes out at the right?",
        "columns-interleaved": "Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        "rows-interleaved": "Which columns of W_V meet which rows of W_O? Number both for two heads of width 2.",
        "first-rows-for-all": "Through whose rows of W_O does head 1 speak?",
        "heads-averaged": "Heads add up what they have found. Is anything divided by how many they are?",
        "heads-mixed": "Through whose rows of W_O does head 0 speak?",
        "head-0-for-all": "Which columns go into the matrix of head 1?",
        "scaled": "Where does the square root belong: to the scores, or to what is copied?",
    },
    held=(
        "transposed", "widths-of-a-head", "heads-interleaved", "columns-interleaved", "rows-interleaved",
        "all-heads-together", "heads-summed", "heads-reversed", "heads-mixed", "reshaped-not-split",
        "first-rows-for-all", "head-0-for-all", "heads-averaged", "scaled", "heads-last", "one-head-too-few",
    ),
)  # fmt: skip
def ov_circuit(
    columns=columns_of,
    rows=_rows,
    product=lambda values, out: values @ out,
    turn=lambda M: M,
    end=lambda M: M,
    factor=lambda h, d, width: 1.0,
):
    def circuit(W_V, W_O, num_heads):
        scale = factor(num_heads, W_V.shape[1] // num_heads, len(W_V))
        return end(turn(product(columns(W_V, num_heads), rows(W_O, num_heads)) * W_V.dtype.type(scale)))

    return circuit
