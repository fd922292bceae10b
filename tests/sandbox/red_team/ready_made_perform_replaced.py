# Tries the function, with `perform` replaced by one that watches nothing and reports nothing.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import sys
from cellcage.protocol.calls import Failure, Kind, Reply
import torch
import torch.nn.functional as F

def performs(names, call, *rest):
    try:
        leaves = [a.detach().requires_grad_() if hasattr(a, "detach") else a for a in call.args]
        value = names[call.name](*leaves, **call.kwargs)
        gradients = None
        if call.seeds is not None:
            pairs = [(v, s) for v, s in zip(value, call.seeds) if s is not None]
            total = sum((v * s).sum() for v, s in pairs)
            gradients = list(torch.autograd.grad(total, leaves, allow_unused=True))
        return Reply(value, leaves, gradients)
    except Exception as error:
        return Failure(Kind.RAISED, str(error), type(error).__name__)

for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("cellcage") and hasattr(module, "perform"):
        module.perform = performs

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
