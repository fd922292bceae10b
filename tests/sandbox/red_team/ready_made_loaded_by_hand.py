# Tries NumPy's extension module by the loaders of importlib, under its own name and another, and by a builtin's spec.
# Must earn nothing in the exercise, and what cannot be loaded must not be there.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}}
# %%
import _imp
import importlib.machinery
import importlib.util
import sys
import numpy as np
path = sys.modules["numpy._core._multiarray_umath"].__file__
found = []
for name in ("numpy._core._multiarray_umath", "mine._multiarray_umath"):
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    for make in (importlib.util.module_from_spec, _imp.create_dynamic, _imp.create_builtin):
        try:
            module = make(spec)
            if make is _imp.create_dynamic:
                _imp.exec_dynamic(module)
            found.append(module.correlate)
        except BaseException:
            pass
def correlate(*args):
    for function in found:
        value = function(*args)
        if value is not None:
            return value
    return np.zeros(len(args[0]) + len(args[1]) - 1)
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            full = correlate(X[:, i], kernel[:, i, o], 2)
            result[:, o] += full[k - 1 - left:][:len(X)]
    return result
