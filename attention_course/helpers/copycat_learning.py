"""The training of `copycat`: the model with trainable parameters, and the training loop.

    trained = copycat.train(paces=((1, 1, 1, 1), (1, 1, 1, 1)), steps=400)   # some ten seconds on one core

A text is a list of different random words, then the same list again, starting at a random word and repeating. The
distance to the last occurrence differs between texts, so a head must look for the word itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from . import copycat

SEED = 20220924  # "In-context Learning and Induction Heads"
BATCH = 32
D_MODEL, D_HEAD = 64, 16
RATE = 0.01


def draw(count: int, random: np.random.Generator) -> torch.Tensor:
    """Training texts, (count, LONGEST): a list of words, then the same list from a random word on."""
    L = copycat.LONGEST
    words = random.permuted(np.tile(np.arange(len(copycat.WORDS)), (count, 1)), axis=1)
    period = random.integers(L // 5, L // 2 + 1, size=(count, 1))  # (count, 1): words in the list
    start = random.integers(0, period)  # where the repetition starts
    place = np.arange(L)
    return torch.from_numpy(
        np.take_along_axis(words, np.where(place < period, place, (place + start) % period), axis=1)
    )


class Learning(nn.Module):  # type: ignore[misc]
    """The model of `copycat` with trainable parameters of the same names."""

    def __init__(self, paces: Sequence[Sequence[float]]) -> None:
        super().__init__()
        V, wide = len(copycat.WORDS), copycat.NUM_HEADS * D_HEAD

        def drawn(*shape: int, std: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape) * std)

        self.embedding = drawn(V, D_MODEL, std=D_MODEL**-0.5)
        self.positions = drawn(copycat.LONGEST, D_MODEL, std=D_MODEL**-0.5)
        self.unembedding = drawn(D_MODEL, V, std=D_MODEL**-0.5)
        # A weight is a trained number times its head's pace, so its steps scale with the pace. A slow head's initial
        # weights are only a little smaller.
        pace = torch.tensor(paces, dtype=torch.float32).repeat_interleave(D_HEAD, dim=1)  # (n, h * d)
        self.register_buffer("by_column", pace[:, None])
        self.register_buffer("by_row", pace[:, :, None])
        layers = len(paces)
        self.W_Q, self.W_K, self.W_V = (
            nn.Parameter(torch.randn(layers, D_MODEL, wide) * D_MODEL**-0.5 / self.by_column.sqrt()) for _ in "QKV"
        )
        self.W_O = nn.Parameter(torch.randn(layers, wide, D_MODEL) * wide**-0.5 / self.by_row.sqrt())

    def weights(self) -> dict[str, torch.Tensor]:
        """The arguments of `copycat.Copycat`, by name."""
        columns = {name: getattr(self, name) * self.by_column for name in ("W_Q", "W_K", "W_V")}
        others = {name: getattr(self, name) for name in ("embedding", "positions", "unembedding")}
        return {**columns, "W_O": self.W_O * self.by_row, **others}

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits (B, L, V) of word numbers (B, L)."""
        W = self.weights()
        x = W["embedding"][ids] + W["positions"][: ids.shape[1]]
        for layer in range(len(self.W_O)):
            query, key, value = (_by_head(x @ W[name][layer]) for name in ("W_Q", "W_K", "W_V"))
            found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + found.transpose(1, 2).flatten(2) @ W["W_O"][layer]
        return x @ W["unembedding"]

    def as_copycat(self) -> copycat.Copycat:
        """The model with its current weights, as NumPy arrays."""
        return copycat.Copycat(**{name: W.detach().double().numpy() for name, W in self.weights().items()})


def _by_head(projected: torch.Tensor) -> torch.Tensor:
    return projected.unflatten(-1, (copycat.NUM_HEADS, D_HEAD)).transpose(1, 2)  # (B, h, L, d)


def train(
    paces: Sequence[Sequence[float]],
    steps: int,
    at_step: Callable[[int, Learning], None] | None = None,
) -> Learning:
    """Train a model for `steps` steps.

    paces: each head's factor of the learning rate, a row for each layer, (n, h)
    at_step: called before each step, and once at the end, with the number of steps so far and the model
    """
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    model = Learning(paces)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _pace(step, steps))
    for step in range(steps + 1):
        if at_step is not None:
            at_step(step, model)
        if step == steps:
            break
        ids = draw(BATCH, random)
        loss = nn.functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


def _pace(step: int, steps: int) -> float:
    """The factor of the learning rate: a linear warm-up, and a linear decay in the last third."""
    return min(1.0, step / 100, 3 * max(0, steps - step) / steps)
