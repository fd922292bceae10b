# Tries the fast path of nn.TransformerEncoderLayer, one C function for a whole layer.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
from torch import nn
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    layer = nn.TransformerEncoderLayer(query.shape[-1], 1, 8, batch_first=True).eval().to(query.dtype)
    with torch.no_grad():
        output = layer(query.reshape(-1, *query.shape[-2:]))[..., : value.shape[-1]].reshape(*query.shape[:-1], -1)
    return output, weights
