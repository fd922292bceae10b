# Tries NumPy's convolution, column by column.
# Must earn no points, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import numpy as np
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            full = np.convolve(X[:, i], kernel[::-1, i, o])
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
