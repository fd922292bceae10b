# Tries the function as a graph traced in a cell.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
import torch.nn.functional as F
def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
example = torch.ones(2, 3, 4)
with torch.no_grad():
    attend = torch.jit.trace(attend, (example, example, example), check_trace=False)
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return attend(query, key, value), weights
