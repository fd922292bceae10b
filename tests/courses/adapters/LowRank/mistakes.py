"""Known mistakes of LowRank."""

import torch
from torch import nn

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake.mutants(
    {
        "base-not-frozen": mistake.known({"trains": True}, hint="Which weights should training leave alone?"),
        "scale-not-divided": mistake.known({"divided": False}, hint="By what is the scale divided?"),
        "base-left-out": mistake.known({"keeps": 0.0}, hint="What comes out if B is 0?"),
        "B-starts-random": mistake.known({"start": torch.randn}, hint="What should the first output be?"),
    }
)
def LowRank(trains=False, divided=True, keeps=1.0, start=torch.zeros):
    class LowRank(nn.Module):
        def __init__(self, d_in, d_out, r, scale=1.0):
            super().__init__()
            self.base = nn.Linear(d_in, d_out).requires_grad_(trains)
            self.A, self.B = nn.Parameter(torch.randn(r, d_in)), nn.Parameter(start(d_out, r))
            self.factor = scale / r if divided else scale

        def forward(self, x):
            return keeps * self.base(x) + self.factor * x @ self.A.T @ self.B.T

    return LowRank
