# Tries to have NaN, infinity, huge numbers and empty arrays drawn as a picture (aimed at the worker).
# Must fail only that exercise, and the report is made.
# expect: {"answers": ["torch_scaled_dot_product_attention"], "pictures": true, "at_most": {"softmax": 0.9, "attention_scores": 0.5, "scaled_dot_product_attention": 0.5}}
# %%
import numpy as np

calls = []
real = np.exp

def softmax(x, axis=-1):
    e = real(x - x.max(axis=axis, keepdims=True))
    right = e / e.sum(axis=axis, keepdims=True)
    return right if x.ndim != 2 else np.zeros((0, *x.shape))

def attention_scores(Q, K):
    scores = Q @ K.swapaxes(-2, -1) / Q.shape[-1] ** 0.5
    scores[..., 0] = np.nan
    scores[..., -1] = np.inf
    return scores if Q.shape != (3, 3) else np.zeros((0, 3, 3))

def scaled_dot_product_attention(Q, K, V):
    odd = np.array([np.nan, np.inf, -1e308, 5e-324, -np.inf, 1e300, -0.0, 1e-300, 2.0**1023])
    return V, np.resize(odd, (7, Q.shape[-2], K.shape[-2]))
