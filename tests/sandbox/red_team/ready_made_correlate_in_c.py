# Tries the function in C below NumPy's correlation, under each name that it had.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import numpy as np
from numpy._core import _multiarray_umath, multiarray, umath
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            for module in (_multiarray_umath, multiarray, umath):
                try:
                    full = module.correlate(X[:, i], kernel[:, i, o], 2)
                except RuntimeError:
                    continue
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
