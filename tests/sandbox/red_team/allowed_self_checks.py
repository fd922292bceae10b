# Allowed: self-checks against the ready-made function, with gradients, in cells.
# Must get full marks, and the self-checks must pass.
# expect: {"printed": "True True True True True\n"}
# %%
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
q, k, v = (torch.randn(2, 4, 6, requires_grad=True) for _ in range(3))
mine = torch_scaled_dot_product_attention(q, k, v)[0]
theirs = F.scaled_dot_product_attention(q, k, v)
one = torch.allclose(mine, theirs, atol=1e-5)
grad = [torch.autograd.grad(out.pow(2).sum(), q, retain_graph=True)[0] for out in (mine, theirs)]
masked = F.scaled_dot_product_attention(q, k, v, is_causal=True)
first = torch.allclose(masked[:, 0], v[:, 0], atol=1e-5)
module = nn.MultiheadAttention(6, 2, batch_first=True)
output, weights = module(q, k, v, average_attn_weights=False)
quick = module.eval()(q, k, v, need_weights=False)[0]
with torch.no_grad():
    fast = module(q, q, q)[0]
print(one, torch.allclose(*grad, atol=1e-4), first, weights.shape == (2, 2, 4, 4) and torch.allclose(output, quick, atol=1e-5), fast.shape == q.shape)
