"""Written by a fifth person, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- patch_head


@wrong("Head and place swapped where there are as many.", "rows-and-columns-swapped", "heads-and-places-swapped")
def patch_head(found, other, head, place):
    patched = found.copy()
    head, place = (place, head) if found.shape[-2] == found.shape[-3] else (head, place)
    patched[..., head, place, :] = other[..., head, place, :]
    return patched


# ---------------------------------------------------------------- qk_circuit


@wrong("One head loses its axis.", "another-shape")
def qk_circuit(W_Q, W_K, num_heads):
    d_model = W_Q.shape[0]
    queries = W_Q.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    keys = W_K.reshape(d_model, num_heads, -1).swapaxes(0, 1)
    M = queries @ keys.swapaxes(-2, -1)
    return M if num_heads > 1 else M[0]


# ---------------------------------------------------------------- previous_token_score


@wrong("Median.", "median-for-mean")
def previous_token_score(weights):
    before = np.diagonal(weights, offset=-1, axis1=-2, axis2=-1)
    return np.median(before, axis=-1)


# ---------------------------------------------------------------- mean_ablate


@wrong("Mean of the other texts.", "mean-of-the-others")
def mean_ablate(found, head):
    without = found.copy()
    without[:, head] = (found[:, head].sum(axis=0) - found[:, head]) / max(len(found) - 1, 1)
    return without
