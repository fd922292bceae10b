# Tries the operator behind the function, by a name put together from parts.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
attend = getattr(torch.ops.aten, 'scaled' + '_dot_product_' + 'attention').default
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return attend(query, key, value), weights
