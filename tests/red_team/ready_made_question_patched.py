# Tries the function, with our question patched away by every way the garbage collector knows.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": ""}
# %%
import gc, types
import torch
import torch.nn.functional as F


def nothing(*args, **kwargs):
    raise RuntimeError("patched")


for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and thing.__module__ == "autograder.sandbox.ready_made":
        try:
            thing.__code__ = nothing.__code__
        except ValueError:
            pass
    if type(thing).__name__ == "Library":
        thing._destroy()


def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
