"""A short training on the novel, for the block of assignment 8.

novel_training.train(model, steps=250)      # the loss of each step
novel_training.held_out_loss(model)         # on chapters that it was not trained on

Its tokens are those of `trained_decoder`, which students compute at the end of assignment 5.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import nn

from . import novel, trained_decoder

BATCH, L, RATE = 16, 64, 3e-3  # as in assignment 5
VOCABULARY = trained_decoder.SIZES["vocab_size"]


@cache
def tokens() -> tuple[torch.Tensor, torch.Tensor]:
    """The novel as token ids: the training text, (N,), and stretches of the held-out text, (M, L)."""
    encode = trained_decoder.tokenizer().encode
    read, held_out = (torch.tensor(encode(text)) for text in novel.text())
    return read, held_out[: len(held_out) // L * L].view(-1, L)


def loss(model: nn.Module, token_ids: torch.Tensor) -> torch.Tensor:
    """The mean loss over all next tokens of (B, L) ids; `model` returns logits, (B, L, vocab_size)."""
    logits = model(token_ids)[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), token_ids[:, 1:].flatten())


def train(model: nn.Module, steps: int, seed: int = 0, until: int | None = None) -> list[float]:
    """Train `model` for `steps` steps on random stretches, and return the loss of each step.

    The learning rate rises, then falls to zero. until: stop early, after this many steps
    """
    random = torch.Generator().manual_seed(seed)
    read, losses = tokens()[0], []
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=steps)
    for _ in range(until or steps):
        starts = torch.randint(len(read) - L, (BATCH, 1), generator=random)
        found = loss(model, read[starts + torch.arange(L)])
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        schedule.step()
        losses.append(found.item())
    return losses


def held_out_loss(model: nn.Module) -> float:
    """The mean next-token loss on the held-out chapters."""
    with torch.inference_mode():
        return float(loss(model, tokens()[1]))
