"""Known mistakes of torch_concat_heads."""

import torch

from autograder.testing import Catalogue

from ..shared_mistakes import JOINED, JOINS, joined_by

mistake = Catalogue()


@mistake("concat-without-transpose", hint="Row 0 is the first token's. From which heads are your row 0's numbers?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.reshape(*batch, L, h * d)


@mistake("view-after-transpose", hint="Did the transpose move the numbers in memory, or change the rule for walking?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    return heads.transpose(-3, -2).view(*batch, L, h * d)


@mistake("detached-gradient", hint="Which step on the way gives a tensor that autograd knows nothing of?")
def torch_concat_heads(heads):
    *batch, h, L, d = heads.shape
    with torch.no_grad():
        return heads.transpose(-3, -2).reshape(*batch, L, h * d)


@mistake("no-batch-axes", hint="Which axis does a for loop over a tensor go through, in a batch?")
def torch_concat_heads(heads):
    return torch.cat([head for head in heads], dim=-1)


@mistake.mutants(
    JOINS, hints=JOINED, catalogued=("heads-averaged", "heads-interleaved", "stops-at-a-length", "some-heads-only")
)
def torch_concat_heads(**options):
    return joined_by(**options)
