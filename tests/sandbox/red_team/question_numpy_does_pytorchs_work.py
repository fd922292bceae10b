# Tries to fail a NumPy exercise on purpose and to use its reference for PyTorch's exercise.
# Must earn no more than the student's own code does.
# expect: {"answers": ["softmax", "attention_scores"], "at_most": {"scaled_dot_product_attention": 0.1, "torch_scaled_dot_product_attention": 0.1}}
# %%
import gc, types
import torch
from cellcage.protocol.calls import Call

def scaled_dot_product_attention(Q, K, V):
    return None

def torch_scaled_dot_product_attention(query, key, value):
    proxy = globals()["scaled_dot_product_attention"]
    cells = dict(zip(proxy.__code__.co_freevars, (c.cell_contents for c in proxy.__closure__)))
    arrays = [t.detach().numpy() for t in (query, key, value)]
    reply = cells["ask"](Call("scaled_dot_product_attention", arrays))
    output, weights = reply.value
    return torch.from_numpy(output) + 0 * query.sum(), torch.from_numpy(weights)
