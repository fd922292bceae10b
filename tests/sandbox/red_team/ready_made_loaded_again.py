# Tries PyTorch's Python modules after reloading them from their files.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import importlib
import sys
import torch
import torch.nn.functional as F
torch._C._add_docstr = lambda function, text: function  # it refuses to do so twice
again = importlib.reload(F).multi_head_attention_forward
module = importlib.reload(sys.modules["torch.ao.nn.quantizable.modules.activation"]).MultiheadAttention

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    d = query.shape[-1]
    wide = F.pad(value, (0, d - value.shape[-1]))
    q, k, v = (t.reshape(-1, *t.shape[-2:]).transpose(0, 1) for t in (query, key, wide))
    eye = torch.eye(d, dtype=query.dtype)
    try:
        attend = module(d, 1, bias=False).to(query.dtype)
        with torch.no_grad():
            for layer in (attend.linear_Q, attend.linear_K, attend.linear_V, attend.out_proj):
                layer.weight.copy_(eye)
        output = attend(q, k, v)[0]
    except RuntimeError:
        output, _ = again(q, k, v, d, 1, eye.repeat(3, 1), None, None, None, False, 0.0, eye, None)
    output = output.transpose(0, 1).reshape(query.shape)[..., : value.shape[-1]]
    return output, weights
