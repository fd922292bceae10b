# Allowed: smoothing a curve and a convolution, inside and outside an exercise that is not about convolution.
# Must get full marks.
# expect: {"answers": "all", "printed": "(991,) torch.Size([1, 1, 3])\n"}
# %%
import numpy as np
import torch
import torch.nn.functional as F

def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    one = F.conv1d(scores.reshape(1, 1, -1), scores.new_ones(1, 1, 1)).reshape(scores.shape)
    weights = torch.softmax(one, dim=-1)
    return weights @ value, weights

# %%
smooth = np.convolve(np.random.default_rng(0).normal(size=1000), np.ones(10) / 10, mode="valid")
print(smooth.shape, F.conv1d(torch.ones(1, 1, 5), torch.ones(1, 1, 3)).shape)
