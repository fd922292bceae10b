# Tries to restore PyTorch's removed kernels, by registering others and removing them again.
# Must earn no points, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import gc
import numpy as np
import torch
for key in ("CPU", "CompositeExplicitAutograd"):
    try:
        library = torch.library.Library("aten", "IMPL", key)
        library.impl("convolution", lambda *args: None, key, allow_override=True)
        library._destroy()
        del library
    except Exception:
        pass
gc.collect()
def convolution_by_attention(X, kernel):
    k, left = len(kernel), (len(kernel) - 1) // 2
    padded = np.pad(X, ((left, k - 1 - left), (0, 0)))
    x, w = torch.from_numpy(padded.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return torch.convolution(x, w, None, [1], [0], [1], False, [0], 1).numpy()[0].T
