# Allowed: self-checks with PyTorch's modules, in training and evaluation mode, with and without gradients.
# Must get full marks, and the self-checks must pass.
# expect: {"printed": "True True True True True\n"}
# %%
import torch
import torch.nn.functional as F
import torch.onnx.ops
from torch import nn

torch.manual_seed(1)
x = torch.randn(2, 4, 6)
module = nn.MultiheadAttention(6, 2, batch_first=True)
trained = module.train()(x, x, x)[0]
evaluated = module.eval()(x, x, x)[0]
with torch.no_grad():
    fixed = module(x, x, x, need_weights=False)[0]
trained.sum().backward()
q, k, v = (t[..., :6].view(2, 4, 1, 6).transpose(1, 2) for t in (x, x, x))
with torch.inference_mode():
    theirs = F.scaled_dot_product_attention(q, k, v)
layer = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True)
print(
    torch.allclose(trained, evaluated, atol=1e-5), torch.allclose(trained, fixed, atol=1e-5),
    module.in_proj_weight.grad is not None,
    torch.allclose(theirs[:, 0], torch_scaled_dot_product_attention(x, x, x)[0], atol=1e-5),
    torch.allclose(layer.train()(x), layer.eval()(x), atol=1e-5),
)
