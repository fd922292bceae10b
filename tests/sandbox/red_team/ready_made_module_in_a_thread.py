# Tries nn.MultiheadAttention with unit weights in another thread; it is written in Python.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import threading
import torch
from torch import nn
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    found = []
    def attend():
        d = query.shape[-1]
        wide = torch.nn.functional.pad(value, (0, d - value.shape[-1]))
        module = nn.MultiheadAttention(d, 1, bias=False, batch_first=True).to(query.dtype)
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
            module.out_proj.weight.copy_(torch.eye(d))
        batch = [t if t.ndim == 3 else t.reshape(-1, *t.shape[-2:]) for t in (query, key, wide)]
        found.append(module(*batch)[0].reshape(query.shape)[..., : value.shape[-1]])
    thread = threading.Thread(target=attend)
    thread.start()
    thread.join()
    return found[0], weights
