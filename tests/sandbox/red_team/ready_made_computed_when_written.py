# Returns a tensor of a class of its own, which computes its numbers only when the answer is written.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
import torch.nn.functional as F
class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ == "detach":
            return F.scaled_dot_product_attention(*args[0].given)
        return super().__torch_function__(func, types, args, kwargs or {})
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    later = (weights @ value).detach().as_subclass(Later)
    later.given = query.detach(), key.detach(), value.detach()
    return later, weights
