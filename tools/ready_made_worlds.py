"""Arguments with which `tools.find_ready_made` calls suspects, and the results of attention and convolution on them."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Names = tuple[tuple[str, tuple[Any, ...]], ...]  # a pattern of parameter names, and values for them


@dataclass(frozen=True)
class World:
    """Matching arguments: the first ones, values by parameter name, and the possible right results."""

    what: str
    first: tuple[Any, ...]
    by_name: Names
    wanted: tuple[Any, ...]


def attention_worlds() -> Iterator[World]:
    import torch

    for shape in ((2, 3, 5, 4), (2, 5, 4), (5, 4)):
        numbers = torch.linspace(0.3, 40, 3 * math.prod(shape)).sin().reshape(3, *shape)
        q, k, v = numbers
        length = shape[-2]
        eye, zeros = torch.eye(4), torch.zeros(4)
        by_name: Names = (
            (r"buffers", ((),)),
            (r"block_mask", _no_blocks(q, k) if q.ndim == 4 else (None,)),
            (r"score_mod", (lambda score, *_: score,)),
            (r"dropout|_p$", (0.0,)),
            (r"scale", (0.5, 2.0)),
            (r"num_head|nhead|n_head", (1,)),
            (r"embed_dim", (4,)),
            (r"(qkv|in_proj)_weight", (eye.repeat(3, 1),)),
            (r"(qkv|in_proj)_bias", (zeros.repeat(3),)),
            (r"proj_weight", (eye,)),
            (r"proj_bias", (zeros,)),
            (r"bias_[kv]", (None,)),
            (r"mask|bias", (None, torch.zeros(length, length))),
            (r"options", ({},)),
            (r"causal|need|train|return|add_zero|debug", (False,)),
            (r"^q", (q,)),
            (r"^k", (k,)),
            (r"^v", (v,)),
        )
        yield World("attention", (q, k, v), by_name, tuple(_attention(q, k, v)))


def _no_blocks(q: Any, k: Any) -> tuple[Any, ...]:
    """A block mask of flex attention that hides nothing; None if this PyTorch does not have it."""
    with contextlib.suppress(ImportError, AttributeError):
        flex = importlib.import_module("torch.nn.attention.flex_attention")
        return (flex._create_empty_block_mask(q, k).as_tuple(),)
    return (None,)


def _attention(q: Any, k: Any, v: Any) -> Iterator[Any]:
    """Attention along each axis that may be the sequence, with and without scaling, causal and not."""
    import torch

    for axis in range(max(0, q.ndim - 3), q.ndim - 1):
        q_, k_, v_ = (t.movedim(axis, -2) for t in (q, k, v))
        for scale, causal in itertools.product((1 / math.sqrt(q.shape[-1]), 1.0), (False, True)):
            scores = q_ @ k_.transpose(-2, -1) * scale
            if causal:
                scores += torch.full(scores.shape[-2:], -math.inf).triu(1)
            yield torch.softmax(scores, -1) @ v_


def convolution_worlds() -> Iterator[World]:
    import numpy as np
    import torch

    x, kernel = np.sin(np.linspace(0.3, 20, 36)).reshape(9, 4), np.cos(np.linspace(0, 30, 36)).reshape(3, 4, 3)
    for dtype, axes in itertools.product((torch.float32, torch.float64), (1, 2, 3)):
        ones = (1,) * (axes - 1)
        words = torch.tensor(x.T.copy(), dtype=dtype).reshape(1, 4, 9, *ones)
        taps = torch.tensor(kernel.transpose(2, 1, 0).copy(), dtype=dtype)  # (3, 4, 3): out, in, tap
        weight, turned = taps.reshape(3, 4, 3, *ones), taps.transpose(0, 1).reshape(4, 3, 3, *ones)
        grad = torch.cos(torch.arange(21.0, dtype=dtype)).reshape(1, 3, 7, *ones)
        back = _convolved(grad.reshape(3, 7).numpy().T, kernel.transpose(0, 2, 1))
        known: Names = (
            *_rest(axes),
            ("weight|^w$", (weight, turned)),
            ("grad", (grad,)),
            ("input_size", (words.shape,)),
        )
        wanted = (*_convolved(x, kernel), *back)
        yield World("convolution", (words, weight), (*known, (r"", (words,))), wanted)
        yield World("convolution", (words, turned), (*known, (r"", (words,))), wanted)
        if axes == 2 and dtype == torch.float32:  # MKLDNN's layout, which has its own kernels
            for first in ((words.to_mkldnn(), weight), (words, weight.to_mkldnn())):
                meant = (("weight|^w$", first[1:]), *known, (r"", first[:1]))
                yield World("convolution", first, meant, wanted)
        if axes == 1:
            flat = words.permute(2, 0, 1), torch.tensor(kernel, dtype=dtype)
            yield World("convolution", flat, ((r"bias", (torch.zeros(3, dtype=dtype),)), (r"pad", (0,))), wanted)
    a, taps_ = x[:, 0].copy(), kernel[:, 0, 0].copy()
    wanted = tuple(_convolved(a[:, None], taps_[:, None, None]))
    for first in ((a, taps_), (torch.tensor(a), torch.tensor(taps_))):
        by_name: Names = (("mode", ("full", "valid", 2, 0)), ("^v", first[1:]), ("", first[:1]))
        yield World("convolution", first, by_name, wanted)


def _rest(axes: int) -> Names:
    """Values for the other parameters of a convolution."""
    return (
        (r"bias_sizes", ([3],)),
        (r"bias", (None,)),
        (r"kernel_size", ([3] + [1] * (axes - 1),)),
        (r"output_padding", ([0] * axes,)),
        (r"padding", ([0] * axes,)),
        (r"stride|dilation", ([1] * axes,)),
        (r"groups", (1,)),
        (r"output_mask", ([True, True, False],)),
        (r"transposed|benchmark|determin|enabled|allow", (False, True)),
        (r"attr", ("none",)),
        (r"algorithm", ("",)),
        (r"^b$", (None,)),
        (r"scalars", ([],)),
    )


def _convolved(x: Any, kernel: Any) -> Iterator[Any]:
    """x (L, d_in) convolved and correlated with kernel (k, d_in, d_out); modes full, same and valid."""
    import numpy as np

    length, k = len(x), len(kernel)
    for taps in (kernel, kernel[::-1]):
        full = np.zeros((length + k - 1, kernel.shape[2]))
        for j, tap in enumerate(taps):
            full[j : j + length] += x @ tap
        yield from (full, full[(k - 1) // 2 :][:length], full[k - 1 : length])
