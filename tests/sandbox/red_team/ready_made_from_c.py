# Tries the C function, captured in a cell.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
attend = torch._C._nn.scaled_dot_product_attention
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return attend(query, key, value), weights
