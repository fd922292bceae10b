"""Known mistakes of cross_attention."""

import math

import torch

from autograder.testing import Catalogue

from ...hidden import mutation_hints, mutation_options, softmax_options
from ...hidden.part_options import TIES, head_0, tied

mistake = Catalogue()
TORCH = softmax_options.torch_functions()


def _cut(projected, h):
    """(..., length, h * d) -> (..., h, length, d)"""
    return projected.unflatten(-1, (h, -1)).transpose(-3, -2)


def _scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _shares(scores, real=None, dim=-1):
    """The attention weights; `real` broadcasts to the scores."""
    if real is None:
        return torch.softmax(scores, dim)
    return torch.softmax(scores.masked_fill(~real, torch.finfo(scores.dtype).min), dim).masked_fill(~real, 0.0)


def _for_heads(padding):
    """(..., 1, S) -> (..., 1, 1, S)"""
    return None if padding is None else padding.unsqueeze(-3)


def _side_by_side(heads):
    """(..., h, L, d) -> (..., L, h * d)"""
    return heads.transpose(-3, -2).flatten(-2)


@mistake("keys-and-values-from-x", hint="Who is asked: the text itself, or the other one? What is memory used for?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(x @ W_K, num_heads), _cut(x @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("x-and-memory-swapped", hint="Which of the two texts asks, and which one answers?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(memory @ W_Q, num_heads), _cut(x @ W_K, num_heads), _cut(x @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("both-texts-as-keys", hint="How many columns should the weights have? May a word look at its own text here?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    both = torch.cat([memory, x], dim=-2)
    real = _for_heads(memory_padding)
    if real is not None:
        real = torch.cat([real, real.new_ones(*real.shape[:-1], x.shape[-2])], dim=-1)
    query, key, value = _cut(x @ W_Q, num_heads), _cut(both @ W_K, num_heads), _cut(both @ W_V, num_heads)
    weights = _shares(_scores(query, key), real)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("one-big-head", hint="How many matrices of weights are there? Over how many columns does a score add up?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    weights = _shares(_scores(x @ W_Q, memory @ W_K), memory_padding)
    return weights @ (memory @ W_V) @ W_O, torch.stack([weights] * num_heads, dim=-3)


@mistake("residual-added", hint="What else is in your output besides the heads?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return x + _side_by_side(weights @ value) @ W_O, weights


@mistake("weights-averaged", hint="The weights should show what each head looks at. How many axes do they have?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights.mean(dim=-3)


@mistake("tuple-swapped", hint="In which order does the docstring name what comes back?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return weights, _side_by_side(weights @ value) @ W_O


@mistake("memory-zeroed", hint="A vector of zeros has a key, too. Which score does it get, and so which weight?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    if memory_padding is not None:
        memory = memory * memory_padding.transpose(-2, -1)
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("leaky-mask", hint="Put a score of a million under the mask. How much of it comes through?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    scores = _scores(query, key)
    if memory_padding is None:
        weights = _shares(scores)
    else:
        real = _for_heads(memory_padding)
        weights = _shares(scores - 100.0 * ~real) * real.any(dim=-1, keepdim=True)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("padding-of-the-first-for-all", hint="Do two texts with different padding get different weights?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    real = None if memory_padding is None else memory_padding.reshape(-1, memory.shape[-2])[0]
    weights = _shares(_scores(query, key), real)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "heads-axis-missing-in-padding", hint="The scores have an axis for the heads. Which axis of (B, 1, S) meets it?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), memory_padding)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "one-batch-axis-only", hint="Does your code ask how many batch axes there are, or does it take for granted one?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    (B, L, _), S = x.shape, memory.shape[1]
    query = (x @ W_Q).view(B, L, num_heads, -1).transpose(1, 2)
    key = (memory @ W_K).view(B, S, num_heads, -1).transpose(1, 2)
    value = (memory @ W_V).view(B, S, num_heads, -1).transpose(1, 2)
    weights = _shares(_scores(query, key), None if memory_padding is None else memory_padding[:, None])
    return (weights @ value).transpose(1, 2).reshape(B, L, -1) @ W_O, weights


@mistake("d_k-from-d_model", hint="d_model need not be h * d_k. Which shape tells you how wide a head really is?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    d_k = x.shape[-1] // num_heads
    query, key, value = (
        t.unflatten(-1, (num_heads, d_k)).transpose(-3, -2) for t in (x @ W_Q, memory @ W_K, memory @ W_V)
    )
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("no-max-subtraction", hint="What is e to the power of 1000? What may be taken off a row of scores?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    exps = torch.exp(_scores(query, key))
    if memory_padding is not None:
        exps = exps.masked_fill(~_for_heads(memory_padding), 0.0)
    total = exps.sum(dim=-1, keepdim=True)
    weights = exps / torch.where(total > 0, total, 1.0)
    return _side_by_side(weights @ value) @ W_O, weights


@mistake(
    "detached-gradient", hint="Print requires_grad after each step from memory to the output. Where does it turn False?"
)
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    memory = memory.detach()
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    return _side_by_side(weights @ value) @ W_O, weights


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key).float(), _for_heads(memory_padding))
    return _side_by_side(weights @ value.float()) @ W_O.float(), weights


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def cross_attention(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
    query, key, value = _cut(x @ W_Q, num_heads), _cut(memory @ W_K, num_heads), _cut(memory @ W_V, num_heads)
    weights = _shares(_scores(query, key), _for_heads(memory_padding))
    output = _side_by_side(weights @ value) @ W_O, weights
    if memory_padding is not None:
        memory.masked_fill_(~memory_padding.transpose(-2, -1), 0.0)
    return output


def _below(most, t, axis):
    """True at the first `most` places of an axis, as long as that."""
    return torch.arange(t.shape[axis]) < most


def _onto(real, size):
    """The padding, transposed onto the queries as far as there are some."""
    return real.transpose(-2, -1)[..., :size, :]


@mistake.mutants(
    mutation_options.SCALES
    | {"scale-by-d_model": mistake.known({"scale": lambda size: math.sqrt(size.d_model)})}
    | {"scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.num_heads * size.d_k)}]}
    | {"scale-by-num_heads": [{"scale": lambda size: math.sqrt(size.num_heads)}]}
    | {
        "keys-and-values-from-x": [{"texts": lambda x, m: (x, x, x)}],
        "queries-from-memory": mistake.known(
            {"texts": lambda x, m: (m, m, m)}, hint="Which of the two texts asks? How many rows have the weights then?"
        ),
        "x-and-memory-swapped": [{"texts": lambda x, m: (m, x, x)}],
        "keys-from-x": mistake.mutant(
            {"texts": lambda x, m: (x, x, m)},
            hint="A score compares a word of x with what? Which text are the keys made from?",
        ),
        "values-from-x": mistake.mutant(
            {"texts": lambda x, m: (x, m, x)},
            hint="The weights say how much of each word of memory. Which text are the values made from?",
        ),
        "W_K-and-W_V-swapped": mistake.known(
            {"matrices": lambda Q, K, V: (Q, V, K)},
            hint="Which matrix makes what is compared, and which one what is blended?",
        ),
        "W_Q-and-W_K-swapped": mistake.known(
            {"matrices": lambda Q, K, V: (K, Q, V)}, hint="Which matrix belongs to the text that asks?"
        ),
        "values-from-W_K": mistake.mutant(
            {"matrices": lambda Q, K, V: (Q, K, K)},
            hint="Which matrix makes the values? Is each of the four used once?",
        ),
        "keys-from-W_Q": mistake.mutant(
            {"matrices": lambda Q, K, V: (Q, Q, V)}, hint="Which matrix makes the keys? Is each of the four used once?"
        ),
        "heads-interleaved": mistake.known(
            {"cut": lambda t, h: t.unflatten(-1, (-1, h)).movedim(-1, -3)},
            hint="Which columns of W_Q does head 0 own: neighbours, or every h-th one?",
        ),
        "split-without-transpose": mistake.known(
            {"cut": lambda t, h: t.reshape(*t.shape[:-2], h, t.shape[-2], t.shape[-1] // h)},
            hint="Has head 0 a row for each word, or pieces of the first ones?",
        ),
        "concat-without-transpose": mistake.known(
            {"join": lambda z: z.reshape(*z.shape[:-3], z.shape[-2], -1)},
            hint="Row 0 is the first word's. From which heads are your row 0's numbers?",
        ),
        "no-transpose-at-all": mistake.mutant(
            {
                "cut": lambda t, h: t.reshape(*t.shape[:-2], h, t.shape[-2], t.shape[-1] // h),
                "join": lambda z: z.reshape(*z.shape[:-3], z.shape[-2], -1),
            },
            hint="Has head 0 a row for each word, or pieces of the first ones? What is in row 0 at the end?",
        ),
        "heads-reversed": mistake.mutant(
            {"join": lambda z: _side_by_side(z.flip(-3))}, hint="Which head's numbers stand first in a row of yours?"
        ),
        "heads-averaged": mistake.mutant(
            {"join": lambda z: _side_by_side(z.mean(-3, keepdim=True).expand_as(z))},
            hint="Side by side, or added up: what is lost when heads are averaged?",
        ),
        "heads-summed": mistake.mutant(
            {"join": lambda z: _side_by_side(z.sum(-3, keepdim=True).expand_as(z))},
            hint="Side by side, or added up: what is lost when heads are added?",
        ),
        "W_O-missing": mistake.known(
            {"end": lambda joined, W_O: joined},
            hint="What happens to the concatenated heads before they are returned?",
        ),
        "W_O-transposed": mistake.mutant(
            {"end": lambda joined, W_O: joined @ W_O.T}, hint="Which axis of W_O meets the concatenated heads?"
        ),
        "some-heads-only": mistake.known(
            *[{"join": lambda z, most=most: _side_by_side(z * _below(most, z, -3)[:, None, None])} for most in (3, 4)],
            hint="With eight heads, how many of them reach your output?",
        ),
        "heads-tied": mistake.known(
            *[
                {"operands": lambda Q, K, V, tie=tie: tuple(tied(t, tie) for t in (Q, K, V))}
                for tie in (*(lambda i, h, most=most: min(i, most - 1) for most in (3, 4)), *TIES)
            ],
            hint="With eight heads, do the last ones have queries, keys and values of their own?",
        ),
        "stops-at-a-length": mistake.known(
            *[{"seen": lambda real, size, most=most: real & _below(most, real, -1)} for most in (16, 8, 32, 64)],
            hint="How many words of memory may be looked at in yours? Where does that number come from?",
        ),
        "one-head-for-all": mistake.mutant(
            {"operands": lambda Q, K, V: tuple(tied(t, head_0) for t in (Q, K, V))},
            hint="Compare two heads' weights. Should they be the same?",
        ),
        "other-heads-zero": mistake.mutant(
            *[{"join": lambda z, most=most: _side_by_side(z * _below(most, z, -3)[:, None, None])} for most in (1, 2)],
            hint="How many of the heads reach your output?",
        ),
        "heads-and-width-exchanged": mistake.mutant(
            {"count": lambda h, width: width // h},
            hint="Is num_heads how many heads there are, or how wide one of them is?",
        ),
        "one-big-head": [{"count": lambda h, width: 1}],
        "causal-mask-put-in": mistake.known(
            {"causal": 0}, hint="Is any word of memory written later than the word that asks?"
        ),
        "mask-on-the-queries": mistake.known(
            {"seen": lambda real, size: _onto(real, size)},
            hint="memory_padding has an entry a word of memory. Which axis of the weights is that?",
        ),
        "mask-on-both-texts": mistake.known(
            {"seen": lambda real, size: real & _onto(real, size)},
            hint="memory_padding hides words that answer. Which words of x does your code silence?",
        ),
        "padding-of-the-first-for-all": [{"seen": lambda real, size: real[:1]}],
        "softmax-over-heads": mistake.known({"axis": -3}),
    }
    | mutation_options.without(mutation_options.MASKS, "mask-transposed", "mask-of-the-first-for-all")
    | mutation_options.NOTHING
    | mutation_options.ZEROED
    | softmax_options.AXES
    | mutation_options.only(
        softmax_options.CURVES,
        "softmax-missing",
        "softmax-twice",
        "no-exponential",
        "not-normalised",
        "sigmoid-for-softmax",
        "no-max-subtraction",
        "sign-flipped",
        "hard-maximum",
    )
    | mutation_options.AFTER,
    mutation_options.EMPTY,
    hints=mutation_hints.HINTS
    | {
        "mask-ignored": "Where does memory_padding go in, and is the result of that line used?",
        "mask-inverted": "What does True mean in memory_padding: a real word, or padding?",
    },
    catalogued=(
        "no-scaling",
        "softmax-over-queries",
        "mask-ignored",
        "mask-inverted",
        "mask-after-softmax",
        "masked-with-zero",
        "nan-for-nothing",
        "evenly-for-nothing",
        "mask-ignored-when-empty",
    ),
)
def cross_attention(
    texts=lambda x, m: (x, m, m),
    matrices=lambda Q, K, V: (Q, K, V),
    cut=_cut,
    join=_side_by_side,
    end=lambda joined, W_O: joined @ W_O,
    causal=None,
    count=lambda h, width: h,
    seen=lambda real, size: real,
    **options,
):
    def attend(x, memory, W_Q, W_K, W_V, W_O, num_heads, memory_padding=None):
        pairs = zip(texts(x, memory), matrices(W_Q, W_K, W_V), strict=True)
        query, key, value = (cut(text @ W, count(num_heads, W_Q.shape[1])) for text, W in pairs)
        L, S = query.shape[-2], key.shape[-2]
        allowed = None if memory_padding is None else seen(_for_heads(memory_padding), L)
        if causal is not None:
            stairs = torch.ones(L, S, dtype=torch.bool).tril(causal)
            allowed = stairs if allowed is None else stairs & allowed
        more = {"d_model": x.shape[-1], "num_heads": num_heads}
        heads, weights = mutation_options.attend(TORCH, query, key, value, allowed, more=more, **options)
        return end(join(heads), W_O), weights

    return attend
