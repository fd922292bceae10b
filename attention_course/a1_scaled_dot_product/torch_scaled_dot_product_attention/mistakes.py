"""Known mistakes of torch_scaled_dot_product_attention."""

import math

import numpy as np
import torch

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options
from ..shared_mistakes import ATTENTION, TORCH, attention

mistake = Catalogue()


@mistake(
    "axes-counted-from-the-front",
    hint="Which axis is d_k? Print the number you divide by, for a batch of sentences.",
)
def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(1))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("axis-counted-from-the-front", hint="Which axis is dim=1 for a matrix, and which one for a batch of them?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=1)
    return weights @ value, weights


@mistake("one-batch-axis-only", hint="How many axes do your axis numbers count on? Could they count from the end?")
def torch_scaled_dot_product_attention(query, key, value):
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, value), weights


@mistake("view-joins-batch-axes", hint="Which axes does the view join into one, and are they neighbours in memory?")
def torch_scaled_dot_product_attention(query, key, value):
    *batch, L, d_k = query.shape
    S, d_v = value.shape[-2:]
    scores = torch.bmm(query.view(-1, L, d_k), key.view(-1, S, d_k).transpose(1, 2)) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1)
    output = torch.bmm(weights, value.view(-1, S, d_v))
    return output.view(*batch, L, d_v), weights.view(*batch, L, S)


@mistake("detached-gradient", hint="Which operations hand on a gradient, and is every step one of those?")
def torch_scaled_dot_product_attention(query, key, value):
    scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).detach()
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("detached-gradient", hint="Which line, or which `with` around it, lets go of the gradient?")
def torch_scaled_dot_product_attention(query, key, value):
    with torch.no_grad():
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
        return weights @ value, weights


@mistake("detached-gradient", hint="Can somebody learn from the weights you return, or only look at them?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights.detach()


@mistake("detour-through-numpy", hint="What is the kind of what comes back, and can a gradient travel through it?")
def torch_scaled_dot_product_attention(query, key, value):
    Q, K, V = (tensor.detach().numpy() for tensor in (query, key, value))
    scores = Q @ K.swapaxes(-2, -1) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake("float32-always", hint="Which dtype goes in, which one comes out, and on which line does it change?")
def torch_scaled_dot_product_attention(query, key, value):
    query, key, value = query.float(), key.float(), value.float()
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


@mistake("in-place", hint="Print the query before and after the call. What does an operator that ends in _ or = do?")
def torch_scaled_dot_product_attention(query, key, value):
    query /= math.sqrt(query.size(-1))
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


@mistake("output-only", hint="How many things does the docstring promise?")
def torch_scaled_dot_product_attention(query, key, value):
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1) @ value


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights, weights @ value


@mistake.mutants(
    # Here the softmax over axis 1 is the axis counted from the front.
    mutation_options.without(ATTENTION, "softmax-over-axis-1")
    | {"detached-gradient": [{"mixed": lambda w, V, size: (w.detach() @ V, w.detach())}]},
    hints=mutation_hints.HINTS
    | {"no-max-subtraction": "What is the exp of 1000? What may be taken off a row with its weights unchanged?"},
    catalogued=(
        "no-scaling",
        "scale-by-d_k",
        "softmax-over-queries",
        "no-max-subtraction",
        "stops-at-a-length",
        "some-heads-only",
    ),
)
def torch_scaled_dot_product_attention(second="weights", **options):
    return lambda query, key, value: attention(TORCH, query, key, value, second, options)
