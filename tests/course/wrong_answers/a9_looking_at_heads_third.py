"""Written by a third person, who knew the exercises and no catalogue."""

import math

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# --------------------------------------------------------------------------------------------- previous_token_score


@wrong("The mean is over all L words: the first, which has no word before it, counts as a 0.", "divided-by-all-words")
def previous_token_score(weights):
    h, L, _ = weights.shape
    score = np.zeros(h, dtype=weights.dtype)
    for i in range(1, L):
        score += weights[:, i, i - 1]
    return score / L


@wrong(
    "The diagonal above the main one is taken, where each word looks at the word after it.", "rows-and-columns-swapped"
)
def previous_token_score(weights):
    return np.diagonal(weights, offset=1, axis1=1, axis2=2).mean(axis=-1)


# -------------------------------------------------------------------------------------------------- induction_score


@wrong("It takes the weight on the same word in the first round, not on the word after it.", "the-same-word")
def induction_score(weights, period):
    L = weights.shape[-1]
    i = np.arange(period, L)
    return weights[:, i, i - period].mean(axis=1)


@wrong("The sum is divided by period, although the second round may be cut short.", "divided-by-the-period")
def induction_score(weights, period):
    L = weights.shape[-1]
    total = sum(weights[:, i, i - period + 1] for i in range(period, L))
    return total / period


# ----------------------------------------------------------------------------------------------------- mean_ablate


@wrong(
    "The mean is taken over places as well as texts, so the head says the same at every place.",
    "mean-over-texts-and-places",
)
def mean_ablate(found, head):
    out = found.copy()
    out[:, head] = found[:, head].mean(axis=(0, 1), keepdims=True)
    return out


@wrong("The means are written into `found` itself, so the caller's array is changed.", "found-changed", form=True)
def mean_ablate(found, head):
    found[:, head, :, :] = found[:, head, :, :].mean(axis=0, keepdims=True)
    return found


# ------------------------------------------------------------------------------------------------------- patch_head


@wrong("The head is patched at every place, not at the one that was asked for.", "every-place")
def patch_head(found, other, head, place):
    keep = np.arange(found.shape[-3]) != head
    return np.where(keep[:, None, None], found, other)


@wrong(
    "`patched = found` is no copy, so the other run's vector is written into found itself.", "found-changed", form=True
)
def patch_head(found, other, head, place):
    patched = found
    patched[..., head, place, :] = other[..., head, place, :]
    return patched


# ------------------------------------------------------------------------------------------------------- qk_circuit


@wrong("The product is W_K times W_Q transposed, so who looks and who is looked at have changed sides.", "keys-first")
def qk_circuit(W_Q, W_K, num_heads):
    d_k = W_Q.shape[1] // num_heads
    circuits = []
    for i in range(num_heads):
        cols = slice(i * d_k, (i + 1) * d_k)
        circuits.append(W_K[:, cols] @ W_Q[:, cols].T)
    return np.stack(circuits)


@wrong("The circuits are divided by the square root of d_k, which should stay outside.", "scaled")
def qk_circuit(W_Q, W_K, num_heads):
    d_model, wide = W_Q.shape
    d_k = wide // num_heads
    q = W_Q.reshape(d_model, num_heads, d_k)
    k = W_K.reshape(d_model, num_heads, d_k)
    return np.einsum("ihd,jhd->hij", q, k) / math.sqrt(d_k)


@wrong(
    "The result array is made by np.zeros without a dtype, so float32 matrices give float64 circuits.",
    "float64-always",
    form=True,
)
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    d_k = W_Q.shape[1] // num_heads
    M = np.zeros((num_heads, d_model, d_model))
    for i in range(num_heads):
        M[i] = W_Q[:, i * d_k : (i + 1) * d_k] @ W_K[:, i * d_k : (i + 1) * d_k].T
    return M


# ------------------------------------------------------------------------------------------------------- ov_circuit


@wrong(
    "W_V is reshaped to (h, d_model, d_v) directly, which cuts it by rows; a head owns columns.", "reshaped-not-split"
)
def ov_circuit(W_V, W_O, num_heads):
    d_model = W_V.shape[0]
    values = W_V.reshape(num_heads, d_model, -1)
    outputs = W_O.reshape(num_heads, -1, d_model)
    return values @ outputs
