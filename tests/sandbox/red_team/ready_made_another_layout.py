# Tries convolution on tensors in MKLDNN layout, whose kernels have another dispatch key.
# Must earn no points, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import numpy as np
import torch
def convolution_by_attention(X, kernel):
    k, left = len(kernel), (len(kernel) - 1) // 2
    padded = np.pad(X, ((left, k - 1 - left), (0, 0)))
    x = torch.from_numpy(padded.T.copy())[None, :, :, None].float()
    w = torch.from_numpy(kernel.transpose(2, 1, 0).copy())[..., None].float()
    rest = None, [0, 0], [1, 1], [1, 1], 1, "none", [], ""
    try:
        y = torch.ops.mkldnn._convolution_pointwise(x.to_mkldnn(), w, *rest)
    except RuntimeError:
        y = torch.ops.mkldnn._convolution_pointwise(x, w.to_mkldnn(), *rest)
    y = y.to_dense() if y.is_mkldnn else y
    return y.numpy()[0, :, :, 0].T.astype(X.dtype)
