# Allowed: a copy of PyTorch's Python source of the function.
# Must get full marks.
# expect: {}
# %%
import math
import torch

def torch_scaled_dot_product_attention(query, key, value):
    # The documentation's "efficient implementation equivalent", less what is not asked for.
    scale_factor = 1 / math.sqrt(query.size(-1))
    attn_weight = query @ key.transpose(-2, -1) * scale_factor
    attn_weight = torch.softmax(attn_weight, dim=-1)
    return torch.dropout(attn_weight, 0.0, train=True) @ value, attn_weight
