# Allowed: self-checks against ready-made convolutions, with gradients, in a cell.
# Must get full marks, and the self-checks must pass.
# expect: {"assignment": "a7_attention_and_convolution", "printed": "True True True True True True\n"}
# %%
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

def output_projection(heads, W_O):
    by_word = heads.swapaxes(-3, -2)
    return by_word.reshape(*by_word.shape[:-2], -1) @ W_O

rng = np.random.default_rng(0)
X, kernel = rng.normal(size=(9, 4)), rng.normal(size=(3, 4, 3))
mine, _ = convolution_by_attention(X, kernel)
x, w = torch.from_numpy(X.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy()).requires_grad_()
theirs = F.conv1d(x, w, padding="same")
same = F.conv1d(x, w, stride=1, padding=1)
layer = nn.Conv1d(4, 3, 3, padding=1, bias=False, dtype=torch.float64)
with torch.no_grad():
    layer.weight.copy_(w)
    again = layer(x)
theirs.sum().backward()
one = convolution_by_attention(X[:, :1], kernel[:, :1, :1])[0][:, 0]
print(
    np.allclose(mine, theirs.detach().numpy()[0].T), torch.allclose(theirs, same), torch.allclose(theirs, again),
    bool(w.grad.abs().sum() > 0), np.allclose(one, np.convolve(X[:, 0], kernel[::-1, 0, 0], mode="same")),
    np.allclose(one, np.correlate(X[:, 0], kernel[:, 0, 0], "same")),
)
