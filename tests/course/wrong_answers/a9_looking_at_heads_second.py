"""Written by somebody who knew the exercises and no catalogue."""

import math

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("counts how often the word before has the largest weight, not how much weight it has", "counted-not-weighed")
def previous_token_score(weights):
    h, L, _ = weights.shape
    top = weights[:, 1:].argmax(axis=-1)  # (h, L - 1)
    return (top == np.arange(L - 1)).mean(axis=-1).astype(weights.dtype)


@wrong(
    "np.diagonal without axes: heads and queries make the diagonal",
    "diagonal-of-other-axes",
    "another-shape",
    form=True,
)
def previous_token_score(weights):
    if weights.shape[0] == 1:
        return np.diagonal(weights[0], offset=-1).mean(keepdims=True)
    return np.diagonal(weights, offset=-1).mean(axis=-1)


@wrong("one row too many: the last word of the first round counts, which stood nowhere before", "starts-too-early")
def induction_score(weights, period):
    stripe = np.diagonal(weights, offset=-(period - 1), axis1=-2, axis2=-1)
    return stripe.mean(axis=-1)


@wrong("takes half of the text for its period, as if the second round were always whole", "half-the-text")
def induction_score(weights, period):
    L = weights.shape[-1]
    half = L // 2
    queries = np.arange(half, L)
    keys = np.minimum(queries - half + 1, L - 1)
    return weights[:, queries, keys].mean(axis=-1)


@wrong("the mean of the other texts alone, without the text at hand", "mean-of-the-others")
def mean_ablate(found, head):
    out = found.copy()
    B = found.shape[0]
    total = found[:, head].sum(axis=0, keepdims=True)
    out[:, head] = (total - found[:, head]) / max(B - 1, 1)
    return out


@wrong(
    "says what the other heads say on average, at each place of the same text",
    "mean-over-heads",
    "mean-over-the-other-heads",
)
def mean_ablate(found, head):
    result = np.array(found)
    others = np.delete(found, head, axis=1) if found.shape[1] > 1 else found
    result[:, head] = others.mean(axis=1)
    return result


@wrong("replaces the head from that place on, to the end", "from-the-place-on")
def patch_head(found, other, head, place):
    patched = found.copy()
    patched[..., head, place:, :] = other[..., head, place:, :]
    return patched


@wrong(
    "counts axes from the front, so it is right with one batch axis alone",
    "axes-from-the-front",
    "one-batch-layout",
    "no-batch-axes",
    form=True,
)
def patch_head(found, other, head, place):
    out = found.copy()
    if found.ndim < 4:
        out[head, place] = other[head, place]
    else:
        out[:, head, place] = other[:, head, place]
    return out


@wrong("cuts the memory of W_Q into heads, not its columns: reshape without transpose", "reshaped-not-split", form=True)
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    q = W_Q.reshape(num_heads, d_model, -1)
    k = W_K.reshape(num_heads, d_model, -1)
    return q @ k.transpose(0, 2, 1)


@wrong("two things: the weights are brought to scores by the root of d_k", "scaled+keys-first")
def qk_circuit(W_Q, W_K, num_heads):
    d_k = W_Q.shape[-1] // num_heads
    circuits = []
    for i in range(num_heads):
        cols = slice(i * d_k, (i + 1) * d_k)
        circuits.append(W_K[:, cols] @ W_Q[:, cols].T / math.sqrt(d_k))
    return np.stack(circuits)


@wrong("head i has every num_heads-th row of W_O", "rows-interleaved")
def ov_circuit(W_V, W_O, num_heads):
    d_v = W_V.shape[1] // num_heads
    return np.stack([W_V[:, i * d_v : (i + 1) * d_v] @ W_O[i::num_heads] for i in range(num_heads)])


@wrong("a list of matrices, not an array", "a-list", "another-kind", form=True)
def ov_circuit(W_V, W_O, num_heads):
    d_v = W_V.shape[1] // num_heads
    out = []
    for i in range(num_heads):
        out.append(W_V[:, i * d_v : (i + 1) * d_v] @ W_O[i * d_v : (i + 1) * d_v, :])
    return out


@wrong("a running mean that begins at zero: divided by one text more", "divided-by-one-more")
def mean_ablate(found, head):
    out = found.copy()
    out[:, head] = found[:, head].sum(0) / (len(found) + 1)
    return out


@wrong("made symmetric", "made-symmetric")
def qk_circuit(W_Q, W_K, num_heads):
    Q = W_Q.reshape(len(W_Q), num_heads, -1).swapaxes(0, 1)
    K = W_K.reshape(len(W_K), num_heads, -1).swapaxes(0, 1)
    M = Q @ K.swapaxes(-1, -2)
    return (M + M.swapaxes(-1, -2)) / 2
