# Tries NumPy's correlation in C, found among all objects that Python's collector knows.
# Must earn nothing in the exercise: it is not there, or it is seen.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}}
# %%
import gc
import numpy as np
gc.unfreeze()
functions = [one for one in gc.get_objects() if type(one) is type(len) and one.__name__ in ("correlate", "correlate2")]
def correlate(*args):
    return next((one for function in functions if (one := function(*args)) is not None), np.zeros(len(args[0]) + len(args[1]) - 1))
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            full = correlate(X[:, i], kernel[:, i, o], 2)
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
