# Tries the function, with our question patched away by every way the garbage collector knows.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": ""}
# %%
import gc, sys, types
import torch
import torch.nn.functional as F

def nothing(*args, **kwargs):
    raise RuntimeError("patched")

ours = sys.modules["cellcage.inside.removal"]
gc.unfreeze()  # what is frozen is not listed
for thing in gc.get_referrers(vars(ours)):
    if isinstance(thing, types.FunctionType):
        try:
            thing.__code__ = nothing.__code__
        except ValueError:
            pass
for thing in gc.get_objects() + gc.get_referrers(torch.library.Library, torch._C._DispatchModule):
    if type(thing).__name__ == "Library":
        thing._destroy()
    if type(thing).__name__ == "_DispatchModule":
        thing.reset()

def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
