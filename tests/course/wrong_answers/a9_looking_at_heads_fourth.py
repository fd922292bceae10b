"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- induction_score


@wrong("Looks two places after.", "two-words-after")
def induction_score(weights, period):
    return np.diagonal(weights, 2 - period, 1, 2)[:, 2:].mean(-1)


# ---------------------------------------------------------------- ov_circuit


@wrong("Divided by the root of d_v.", "scaled")
def ov_circuit(W_V, W_O, num_heads):
    return np.stack(
        [v @ o / math.sqrt(v.shape[1]) for v, o in zip(np.hsplit(W_V, num_heads), np.vsplit(W_O, num_heads))]
    )
