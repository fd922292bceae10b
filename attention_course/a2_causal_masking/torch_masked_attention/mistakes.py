"""Known mistakes of torch_masked_attention."""

import math

import torch

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, size_options
from ..shared_mistakes import CURVES, TORCH, UNDER

mistake = Catalogue()


def _torch_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


@mistake("mask-inverted", hint="masked_fill fills where its argument is True. May a query look there?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.zeros_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(mask, -1e9), dim=-1)
    return weights @ value, weights


@mistake("leaky-mask", hint="Put a huge key where nobody may look. How low is its score after your subtraction?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is not None:
        scores = scores - 1e3 * (~mask)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@mistake("nan-in-the-gradient", hint="The NaN is gone from the result. Which step on the way back still meets it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    return weights @ value, weights


@mistake("mask-required", hint="What does your code do with the mask when there is none?")
def torch_masked_attention(query, key, value, mask=None):
    weights = torch.softmax(_torch_scores(query, key).masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("detached-gradient", hint="Along which line does a gradient come back, and is there something that cuts it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = (torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask).detach()
    return weights @ value, weights


@mistake("float64-always", hint="Which dtype goes in, which one comes out, and on which line does it change?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query.double(), key.double())
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value.double(), weights


@mistake("detached-gradient", hint="Which of the two things you return no longer knows where it came from?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights.detach()


@mistake("square-mask-transposed", hint="Which axis of the mask belongs to the queries?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    elif mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("view-joins-batch-axes", hint="Which axes does the view join into one, and are they neighbours in memory?")
def torch_masked_attention(query, key, value, mask=None):
    *batch, L, d_k = query.shape
    S, d_v = value.shape[-2:]
    scores = query.view(-1, L, d_k) @ key.view(-1, S, d_k).transpose(1, 2) / math.sqrt(d_k)
    scores = scores.view(*batch, L, S)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return (weights.view(-1, L, S) @ value.view(-1, S, d_v)).view(*batch, L, d_v), weights


@mistake("always-causal", hint="Which mask is used when the caller gives none, and which did they ask for?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights @ value, weights


@mistake("in-place", hint="What does a name that ends in _ do to the tensor it is called on, and whose tensor is it?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    hidden = mask.logical_not_()
    weights = torch.softmax(scores.masked_fill(hidden, -1e9), dim=-1).masked_fill(hidden, 0.0)
    return weights @ value, weights


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def torch_masked_attention(query, key, value, mask=None):
    scores = _torch_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    return weights, weights @ value


@mistake("no-max-subtraction", hint="What is exp(1000)? Do the weights hang on scores, or on differences of scores?")
def torch_masked_attention(query, key, value, mask=None):
    exps = torch.exp(_torch_scores(query, key))
    if mask is not None:
        exps = exps * mask
    weights = exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return weights @ value, weights


def _of_three_axes(xp, key):
    """As torch.bmm, which takes nothing but three axes."""
    return torch.bmm(key.transpose(-2, -1), torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-2], -1, -1))


@mistake.mutants(
    mutation_options.SCALES
    | mutation_options.WHOLE_SCALES
    | mutation_options.BY_VALUES
    | mutation_options.OPERANDS
    | mutation_options.ZEROED
    | UNDER
    # No score here is as low as minus a million.
    | {"leaky-mask": [way for way in UNDER["leaky-mask"] if way != {"fill": -1e6}]}
    | mutation_options.IN_ONE_PART
    | mutation_options.MASK_AXES
    | size_options.SIZES
    | mutation_options.in_one_part(mutation_options.without(CURVES, "another-base", "epsilon-added"))
    | mutation_options.TURNS
    | mutation_options.only(mutation_options.AFTER, "scaled-after-softmax", "output-scaled")
    | {
        "one-batch-axis-only": mistake.mutant(
            {"turn": lambda xp, key: xp.swap(key, 1, 2)},
            {"turn": _of_three_axes},
            hint="How many axes must query and key have in your code? From which end could it count them?",
        )
    }
    | {"detached-gradient": [{"mixed": lambda w, V, size: (w.detach() @ V, w.detach())}]},
    mutation_options.EMPTY,
    mutation_hints.HINTS | {"nan-for-nothing": "What does torch.softmax make of a row of nothing but -inf?"},
    catalogued=(
        "no-scaling", "mask-after-softmax", "masked-with-zero", "nan-for-nothing", "evenly-for-nothing",
        "mask-ignored-when-empty",
        "softmax-over-queries", "all-axes-reversed", "stops-at-a-length", "some-heads-only",
    ),
)  # fmt: skip
def torch_masked_attention(**options):
    return lambda query, key, value, mask=None: mutation_options.attend(TORCH, query, key, value, mask, **options)
