# Tries flex attention, which is written in Python.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": ""}
# %%
import torch
from torch.nn.attention.flex_attention import flex_attention
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    q, k = (t.reshape(-1, 1, *t.shape[-2:]) for t in (query, key))
    v = value.reshape(-1, 1, *value.shape[-2:])
    with torch.no_grad():
        output = flex_attention(q, k, v)
    output = output.reshape(*query.shape[:-1], value.shape[-1])
    return output, weights
