# Tries the kernel itself, taken from PyTorch's dispatcher.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch

def attend(q, k, v):
    kernel = torch.library.get_kernel("aten::scaled_dot_product_attention", "CPU")
    return kernel.call_boxed(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), q, k, v, None, 0.0, False)

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return attend(query, key, value), weights
