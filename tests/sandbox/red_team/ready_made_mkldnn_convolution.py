# Tries MKLDNN's convolution operator, with __torch_function__ switched off.
# Must earn no points, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import numpy as np
import torch
def convolution_by_attention(X, kernel):
    k, left = len(kernel), (len(kernel) - 1) // 2
    padded = np.pad(X, ((left, k - 1 - left), (0, 0)))
    x, w = torch.from_numpy(padded.T.copy())[None, :, :, None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    with torch._C.DisableTorchFunction():
        y = torch.ops.mkldnn._convolution_pointwise(
            x.float(), w[..., None].float(), None, [0, 0], [1, 1], [1, 1], 1, "none", [], "")
    return y.numpy()[0, :, :, 0].T.astype(X.dtype)
