# Tries PyTorch's slow implementation, which has another name and also returns the weights.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch

def torch_scaled_dot_product_attention(query, key, value):
    return tuple(torch.ops.aten._scaled_dot_product_attention_math(query, key, value))
