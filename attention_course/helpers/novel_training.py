"""A model reads the novel for a moment: what assignment 8 trains its block with.

novel_training.train(model, steps=250)      # the loss of each step
novel_training.held_out_loss(model)         # of chapters that it has not read

Its tokens are those of `trained_decoder`, which students make themselves at the end of assignment 5.
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
    """The novel as token ids: what is trained on, (N,), and stretches of what is held out, (M, L)."""
    encode = trained_decoder.tokenizer().encode
    read, held_out = (torch.tensor(encode(text)) for text in novel.text())
    return read, held_out[: len(held_out) // L * L].view(-1, L)


def loss(model: nn.Module, token_ids: torch.Tensor) -> torch.Tensor:
    """The mean loss of every next token of (B, L) ids; `model` gives logits, (B, L, vocab_size)."""
    logits = model(token_ids)[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), token_ids[:, 1:].flatten())


def train(model: nn.Module, steps: int, seed: int = 0, until: int | None = None) -> list[float]:
    """Train `model` for so many steps on random stretches; the loss of each. The rate rises, and falls to nothing.

    until: stop after so many of the steps, and go no further
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
    """The mean loss of the next token in the chapters that are held out."""
    with torch.inference_mode():
        return float(loss(model, tokens()[1]))
