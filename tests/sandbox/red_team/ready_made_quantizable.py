# Tries the module for quantization, which is written in Python and computes attention itself.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch.ao.nn.quantizable
import torch
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    d = query.shape[-1]
    wide = torch.nn.functional.pad(value, (0, d - value.shape[-1]))
    module = torch.ao.nn.quantizable.MultiheadAttention(d, 1, bias=False, batch_first=True).to(query.dtype)
    with torch.no_grad():
        for layer in (module.linear_Q, module.linear_K, module.linear_V, module.out_proj):
            layer.weight.copy_(torch.eye(d))
    batch = [t.reshape(-1, *t.shape[-2:]) for t in (query, key, wide)]
    output = module(*batch)[0].reshape(query.shape)[..., : value.shape[-1]]
    return output, weights
