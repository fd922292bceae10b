# Tries to report made-up gradients, inputs and shapes with a patched `perform`.
# Right values must pass, because a hand-written backward pass is honest work; wrong values must fail.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0.9}}
# %%
import dataclasses, sys
import torch

def forged(performer, call, closely=False):
    reply = honest(performer, call, closely)
    if getattr(reply, "gradients", None):
        ones = [torch.ones_like(g) if g is not None else None for g in reply.gradients]
        reply = dataclasses.replace(reply, gradients=ones)
    return reply

performers = sys.modules["cellcage.inside.notebook_process"].Performer
honest, performers.perform = performers.perform, forged
