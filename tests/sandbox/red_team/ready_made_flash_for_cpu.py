# Tries the kernel that the function calls, which has another name.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    shape = (-1, 1, *query.shape[-2:])
    q, k = query.reshape(shape), key.reshape(-1, 1, *key.shape[-2:])
    v = torch.nn.functional.pad(value, (0, query.shape[-1] - value.shape[-1])).reshape(-1, 1, key.shape[-2], query.shape[-1])
    output = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)[0]
    output = output.reshape(query.shape)[..., : value.shape[-1]]
    return output, weights
