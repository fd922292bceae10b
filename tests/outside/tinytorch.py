"""Our solutions under the names of TinyTorch's module on attention, and the tensors that its tests make.

TinyTorch's own package is what its students write, module by module, so none of it is there to import: `modules` has
the three modules that the tests ask for, on PyTorch's tensors.
"""

from __future__ import annotations

from types import ModuleType

import torch

from .solutions import solution


class Tensor:
    """A tensor as TinyTorch's tests use it."""

    def __init__(self, data, requires_grad=False):
        self.inner = torch.as_tensor(data, dtype=torch.float32)
        self.inner = self.inner.requires_grad_() if requires_grad else self.inner

    @property
    def data(self):
        return self.inner.detach().numpy()

    @property
    def shape(self):
        return tuple(self.inner.shape)

    @property
    def grad(self):
        return self.inner.grad

    def sum(self):
        return Tensor(self.inner.sum())

    def backward(self):
        self.inner.backward()


def scaled_dot_product_attention(Q, K, V, mask=None):
    seen = None if mask is None else mask.inner != 0
    return tuple(Tensor(one) for one in solution("a2").torch_masked_attention(Q.inner, K.inner, V.inner, seen))


class MultiHeadAttention:
    """Our module, called with their tensors."""

    def __init__(self, embed_dim, num_heads):
        self.ours = solution("a4").MultiHeadAttention(embed_dim, num_heads)
        self.head_dim = self.ours.d_head

    def forward(self, x, mask=None):
        return Tensor(self.ours(x.inner, None if mask is None else mask.inner != 0)[0])

    def parameters(self):
        return list(self.ours.parameters())


def modules() -> dict[str, ModuleType]:
    """What goes into `sys.modules` before their tests are imported."""
    holds = {"tensor": [Tensor], "attention": [scaled_dot_product_attention, MultiHeadAttention], "autograd": []}
    made = {name: ModuleType(name) for name in ("tinytorch", "tinytorch.core")}
    for name, defined in holds.items():
        module = made[f"tinytorch.core.{name}"] = ModuleType(name)
        vars(module).update({one.__name__: one for one in defined}, enable_autograd=lambda: None)
    return made
