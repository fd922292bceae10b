# Tries the function, with `perform` replaced by one that watches nothing and reports nothing.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import sys
import torch
import torch.nn.functional as F

def performs(names, request, *rest):
    try:
        leaves = [a.detach().requires_grad_() if hasattr(a, "detach") else a for a in request["args"]]
        value = names[request["name"]](*leaves, **request["kwargs"])
        reply = {"value": value, "inputs": leaves}
        if request.get("cotangents") is not None:
            pairs = [(v, s) for v, s in zip(value, request["cotangents"]) if s is not None]
            total = sum((v * s).sum() for v, s in pairs)
            reply["gradients"] = list(torch.autograd.grad(total, leaves, allow_unused=True))
        return reply
    except Exception as error:
        return {"error": {"kind": type(error).__name__, "text": str(error), "lines": []}}

for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("autograder.sandbox") and hasattr(module, "perform"):
        module.perform = performs

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
