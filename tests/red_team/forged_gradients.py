# Tries to report gradients, inputs and shapes of its own making with a patched `perform`.
# Must be judged by values: right values pass, for a backward pass written by hand is honest work; wrong ones fail.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0.9}}
# %%
import sys
import torch

def forged(names, request, *rest):
    reply = honest(names, request, *rest)
    if "gradients" in reply:
        reply["gradients"] = [torch.ones_like(g) if g is not None else None for g in reply["gradients"]]
    return reply

server = sys.modules["autograder.sandbox.inside.server"]
honest, server.perform = server.perform, forged
