# Tries the function, with the watcher taken out of the code that performs a request.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import gc, sys, types
import torch
import torch.nn.functional as F

def blind(around, *args):
    around.enter_context(torch.enable_grad())
    return [], []

for module in list(sys.modules.values()):
    if module is not None and getattr(module, "__name__", "").startswith("cellcage"):
        for name, value in list(vars(module).items()):
            if name == "surround":
                setattr(module, name, blind)
            if name in ("READY_MADE", "PARTS"):
                setattr(module, name, ())

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
