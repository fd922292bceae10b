# Tries the function with __torch_function__ switched off, so that no mode sees it.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
import torch.nn.functional as F
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    with torch._C.DisableTorchFunction(), torch._C.DisableTorchFunctionSubclass():
        output = F.scaled_dot_product_attention(query, key, value)
    return output, weights
