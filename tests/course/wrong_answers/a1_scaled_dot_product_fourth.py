"""Written by a fourth person, from the notebooks alone."""

import math

import numpy as np

from tests.helpers.in_process import COURSE
from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- softmax


@wrong("The largest of everything is subtracted: rows far below it vanish.", "one-maximum-for-all")
def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)


@wrong("The largest absolute value is subtracted.", "largest-absolute-value")
def softmax(x, axis=-1):
    e = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("Each score by itself.", "sigmoid")
def softmax(x, axis=-1):
    e = 1 / (1 + np.exp(-x))
    return e / e.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- attention_scores


@wrong(".T reverses all axes of a batch.", "all-axes-reversed")
def attention_scores(Q, K):
    return Q @ K.T / math.sqrt(Q.shape[-1])


# ---------------------------------------------------------------- scaled_dot_product_attention


@wrong("The weights are rounded.", "rounded-weights")
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K)).round(2)
    return w @ V, w


@wrong("The scores, not the weights, blend the values.", "output-first-by-scores")
def scaled_dot_product_attention(Q, K, V):
    s = attention_scores(Q, K)
    return s @ V, softmax(s)


@wrong("Weights come first.", "tuple-swapped")
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K))
    return w, w @ V


@wrong("The keys are blended, not the values.", "keys-blended")
def scaled_dot_product_attention(Q, K, V):
    w = softmax(attention_scores(Q, K))
    out = w @ K
    n = V.shape[-1]
    return out[..., :n], w


# What they call is right.
right = COURSE.of_exercise("softmax").reference()
softmax, attention_scores = right.softmax, right.attention_scores
