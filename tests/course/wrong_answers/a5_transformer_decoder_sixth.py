"""Written by a sixth person, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("Mean and variance over the words.", "normalised-over-the-batch")
def layer_norm(x, gamma, beta, eps=1e-5):
    axes = tuple(range(x.ndim - 1)) or (0,)
    mu = x.mean(axis=axes)
    var = x.var(axis=axes)
    return gamma * (x - mu) / np.sqrt(var + eps) + beta
