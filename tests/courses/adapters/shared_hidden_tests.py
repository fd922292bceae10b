"""What both suites share."""

import torch

D_IN, D_OUT, R = 4, 3, 2


def numbers(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


WEIGHTS = {
    "base.weight": numbers(1, D_OUT, D_IN),
    "base.bias": numbers(2, D_OUT),
    "A": numbers(3, R, D_IN),
    "B": numbers(4, D_OUT, R),
}
