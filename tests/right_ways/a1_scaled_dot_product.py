"""Right ways to do a1."""

import math

import numpy as np
import torch

from autograder.suites.catalogue import Catalogue

way = Catalogue()


@way("log-sum-exp")
def softmax(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.exp(x - (top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))))


@way("einsum")
def attention_scores(Q, K):
    return np.einsum("...ld,...sd->...ls", Q, K) / math.sqrt(Q.shape[-1])
