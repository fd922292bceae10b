# Tries the function under vmap, which has its own rules for it.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
import torch.nn.functional as F
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    one = lambda t: t.reshape(-1, *t.shape[-2:])
    output = torch.vmap(F.scaled_dot_product_attention)(one(query), one(key), one(value))
    output = output.reshape(*query.shape[:-1], value.shape[-1])
    return output, weights
