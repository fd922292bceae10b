# Tries the decomposition of a kernel, which is written in Python, and the function it wraps.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import inspect
import torch._decomp.decompositions as parts
import torch
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    four = lambda t: t.reshape(-1, 1, *t.shape[-2:])
    back = lambda t: t.reshape(*query.shape[:-1], -1)[..., : value.shape[-1]]
    wide = torch.nn.functional.pad(value, (0, query.shape[-1] - value.shape[-1]))
    attend = inspect.unwrap(parts.scaled_dot_product_flash_attention_for_cpu)
    return back(attend(four(query), four(key), four(wide))[0]), weights
