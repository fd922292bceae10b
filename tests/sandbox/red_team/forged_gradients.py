# Tries to report gradients, inputs and shapes of its own making with a patched `perform`.
# Must be judged by values: right values pass, for a backward pass written by hand is honest work; wrong ones fail.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0.9}}
# %%
import dataclasses, sys
import torch

def forged(names, call, *rest):
    reply = honest(names, call, *rest)
    if getattr(reply, "gradients", None):
        ones = [torch.ones_like(g) if g is not None else None for g in reply.gradients]
        reply = dataclasses.replace(reply, gradients=ones)
    return reply

server = sys.modules["cellcage.inside.notebook_process"]
honest, server.perform = server.perform, forged
