# Tries NumPy's correlation in C out of its extension module, which is made a second time.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import _imp
import importlib.machinery
import sys
import numpy as np
name = "numpy._core._multiarray_umath"
spec = importlib.machinery.ModuleSpec(name, None, origin=sys.modules[name].__file__)
correlate = _imp.create_dynamic(spec).correlate
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            full = correlate(X[:, i], kernel[:, i, o], 2)
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
