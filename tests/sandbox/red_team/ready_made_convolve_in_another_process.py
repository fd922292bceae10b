# Tries NumPy's convolution in a new Python, where nobody took it away.
# Must earn nothing in the exercise.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}}
# %%
import json, subprocess, sys
import numpy as np
def convolution_by_attention(X, kernel):
    (k, d_in, d_out), left = kernel.shape, (len(kernel) - 1) // 2
    result = np.zeros((len(X), d_out), X.dtype)
    for i in range(d_in):
        for o in range(d_out):
            ask = f"import numpy as np; print(np.convolve({X[:, i].tolist()}, {kernel[::-1, i, o].tolist()}).tolist())"
            full = json.loads(subprocess.run([sys.executable, "-c", ask], capture_output=True).stdout)
            result[:, o] += np.array(full[k - 1 - left:][:len(X)], X.dtype)
    return result
