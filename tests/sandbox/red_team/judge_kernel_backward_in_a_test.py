# Tries the same kernel inside the exercise, in a backward pass of its own (aimed at the judge).
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch

class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value):
        ctx.save_for_backward(query, key, value)
        weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        return weights @ value, weights

    @staticmethod
    def backward(ctx, *seeds):
        q, k, v = ctx.saved_tensors
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(seeds[0], q, k, v, v, q, 0.0, False)

def torch_scaled_dot_product_attention(query, key, value):
    return Mine.apply(query, key, value)
