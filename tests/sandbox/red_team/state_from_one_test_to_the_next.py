# Tries to be right from the second call on by learning from earlier calls.
# Must fail the tests with the wrong call; no call learns from another.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.8}}
# %%
import numpy as np

calls = []

def softmax(x, axis=-1):
    calls.append(x)
    right = np.exp(x - x.max(axis=axis, keepdims=True))
    right /= right.sum(axis=axis, keepdims=True)
    return right if len(calls) > 1 else right * 0
