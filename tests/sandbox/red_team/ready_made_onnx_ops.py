# Tries the attention of ONNX's operators, which is written in Python.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
import torch.onnx.ops
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    four = lambda t: t.reshape(-1, 1, *t.shape[-2:])
    back = lambda t: t.reshape(*query.shape[:-1], value.shape[-1])
    output = torch.onnx.ops.attention(four(query), four(key), four(value))[0]
    return back(output), weights
