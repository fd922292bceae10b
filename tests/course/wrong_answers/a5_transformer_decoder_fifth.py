"""Written by a fifth person, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


# ---------------------------------------------------------------- positional_encoding


@wrong("An odd width counted as the next even one.", "exponent-off")
def positional_encoding(length, d_model):
    position = np.arange(length)[:, np.newaxis]
    column = np.arange(d_model)
    pair = column // 2
    angle = position / 10000 ** (2 * pair / (d_model + d_model % 2))
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@wrong("Positions in bytes.", "positions-overflow")
def positional_encoding(length, d_model):
    position = np.arange(length).astype(np.int8)[:, np.newaxis]
    column = np.arange(d_model)
    pair = column // 2
    angle = position / 10000 ** (2 * pair / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


# ---------------------------------------------------------------- layer_norm


@wrong("Equal features give nothing.", "beta-forgotten")
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + np.where(variance == 0, 0, beta).astype(x.dtype)


@wrong("gamma along the words of a square.", "wrong-axis")
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    gamma = gamma[:, None] if x.ndim > 1 and x.shape[-1] == x.shape[-2] else gamma
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


@wrong("eps where the variance is smaller.", "eps-as-a-floor")
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(np.maximum(variance, eps)) + beta


@wrong("beta scaled as well.", "shifted-before-scaled")
def layer_norm(x, gamma, beta, eps=1e-05):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * ((x - mean) / np.sqrt(variance + eps) + beta)


# ---------------------------------------------------------------- feed_forward


@wrong("W_1 turned over where it is a square.", "W_1-transposed")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.maximum(x @ (W_1.T if W_1.shape[0] == W_1.shape[1] else W_1) + b_1, 0)
    return hidden @ W_2 + b_2


@wrong("ReLU up to six.", "relu-clipped")
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = np.clip(x @ W_1 + b_1, 0, 6)
    return hidden @ W_2 + b_2
