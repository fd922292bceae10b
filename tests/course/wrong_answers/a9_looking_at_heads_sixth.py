"""Right code with one thing wrong that shows at real sizes."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- previous_token_score


@wrong("The first 32 words that have one before them.", "stops-at-a-length", "stops-at-a-size")
def previous_token_score(weights):
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)[
        :, :32
    ]  # (h, L - 1): query i on key i - 1, from i = 1 on
    return before.mean(axis=-1)


# ---------------------------------------------------------------- induction_score


@wrong("The first sixteen of the second round.", "stops-at-a-length", "stops-at-a-size")
def induction_score(weights, period):
    query = np.arange(period, min(weights.shape[-1], period + 16))  # the second round
    key = query - period + 1  # one after the place where the same word stood
    return weights[:, query, key].mean(axis=-1)  # (h, L - period) -> (h,)


# ---------------------------------------------------------------- mean_ablate


@wrong("The mean of eight texts at most.", "first-texts-only", "stops-at-a-size")
def mean_ablate(found, head):
    without = found.copy()
    without[:, head] = found[:8, head].mean(axis=0)  # (L, d_v), the same for all B texts
    return without


# ---------------------------------------------------------------- qk_circuit


@wrong("Four heads, whatever the layer has.", "some-heads-only", "stops-at-a-size")
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    queries = W_Q.reshape(d_model, num_heads, -1).swapaxes(0, 1)  # (h, d_model, d_k)
    keys = W_K.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    return np.where(
        np.arange(num_heads)[:, None, None] < 4, queries @ keys.swapaxes(-2, -1), 0
    )  # (h, d_model, d_model)


# ---------------------------------------------------------------- ov_circuit


@wrong("Six heads, whatever the layer has.", "some-heads-only", "stops-at-a-size")
def ov_circuit(W_V, W_O, num_heads):
    d_model = W_V.shape[0]
    values = W_V.reshape(d_model, num_heads, -1).swapaxes(0, 1)  # (h, d_model, d_v)
    values = values * (np.arange(num_heads) < 6)[:, None, None]
    return values @ W_O.reshape(num_heads, -1, d_model)  # (h, d_v, d_model) -> (h, d_model, d_model)
