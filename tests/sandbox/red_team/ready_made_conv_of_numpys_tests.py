# Tries a convolution in C that NumPy has for its own tests.
# Must earn nothing in the exercise.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}}
# %%
import numpy as np
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            from numpy._core._umath_tests import conv1d_full
            full = conv1d_full(X[:, i].astype(float), kernel[::-1, i, o].astype(float)).astype(X.dtype)
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
