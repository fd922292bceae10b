"""Small models for suites to hand to student code: sure of themselves, quick, and sensitive to every word.

A model like any other: an `nn.Module`, token ids (B, L) in, logits (B, L, vocab_size) out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

WIDTH = 8
# An exercise's texts have at most 78 tokens; a loop that never ends must soon meet an error.
MAX_LENGTH = 80
SHORT = 60
SURE = 50.0


class Reader(nn.Module):  # type: ignore[misc]
    """Logits at a place hang on every token up to there, and on their order: random weights, in float64.

    A sum over what was read, each token multiplied by its place's own numbers, through a tanh. It is worked out in
    NumPy, which takes microseconds; PyTorch's threads may take a hundred times as long for a product this small.
    `lift` is added to all logits.
    """

    def __init__(self, seed: int, vocab_size: int = 23, lift: float = 0.0) -> None:
        super().__init__()
        random = np.random.default_rng(seed)

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.from_numpy(random.normal(size=shape)), requires_grad=False)

        self.words, places = drawn(vocab_size, WIDTH), drawn(SHORT, WIDTH)
        more = np.random.default_rng([seed, SHORT]).normal(size=(MAX_LENGTH - SHORT, WIDTH))
        self.places = nn.Parameter(torch.cat([places, torch.from_numpy(more)]), requires_grad=False)
        self.last, self.output = drawn(vocab_size, WIDTH), drawn(WIDTH, vocab_size)
        self.lift = lift

    def forward(self, token_ids: Any) -> Any:
        """Logits (B, L, vocab_size). Raises `ValueError` where `token_ids` are not what a model takes."""
        check_ids(token_ids, len(self.words))
        words, places, last, output = (p.numpy() for p in (self.words, self.places, self.last, self.output))
        ids, L = token_ids.numpy(), token_ids.shape[1]
        read = np.cumsum(words[ids] * places[:L], axis=1) / np.sqrt(np.arange(1, L + 1))[:, np.newaxis]
        return torch.from_numpy(np.tanh(read + last[ids]) @ output + self.lift)  # (B, L, vocab_size)

    def __repr__(self) -> str:
        return "a small model"


class Storyteller(Reader):
    """A reader that writes `length` words after the separator, then its end, and then, if let, more words.

    Where there is no separator it does not know that it is to write, and never ends.
    """

    def __init__(self, seed: int, length: int, separator_id: int, end_id: int, vocab_size: int = 23) -> None:
        super().__init__(seed, vocab_size)
        self.length, self.separator_id, self.end_id = length, separator_id, end_id

    def forward(self, token_ids: Any) -> Any:
        """As `Reader.forward`, with the end where it belongs and no separator."""
        logits = super().forward(token_ids)
        is_separator = token_ids.numpy() == self.separator_id
        place = np.arange(token_ids.shape[1])
        since = place - np.maximum.accumulate(np.where(is_separator, place, -1), axis=1)  # words since the separator
        done = (since == self.length) & (is_separator.cumsum(axis=1) > 0)  # (B, L)
        # Neither the largest nor the smallest, so that a loop that looks for the smallest goes on, too.
        middle = logits.mean(dim=-1)
        logits[..., self.separator_id] = middle
        logits[..., self.end_id] = middle + torch.from_numpy(np.where(done, SURE, 0.0))
        return logits


def check_ids(token_ids: Any, vocab_size: int) -> None:
    """Raises `ValueError` with words for a student, where these are not ids in a batch."""
    if not isinstance(token_ids, torch.Tensor):
        raise ValueError(f"a model takes a tensor of token ids, not a {type(token_ids).__name__}")
    if token_ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"token ids are whole numbers (int64), not {token_ids.dtype}")
    if token_ids.ndim != 2:
        raise ValueError(f"a model takes a batch of texts, (B, L); these ids have shape {tuple(token_ids.shape)}")
    if not 0 < token_ids.shape[1] <= MAX_LENGTH:
        raise ValueError(f"this model takes texts of 1 to {MAX_LENGTH} tokens, not of {token_ids.shape[1]}")
    if token_ids.min() < 0 or token_ids.max() >= vocab_size:
        raise ValueError(f"token ids are from 0 to {vocab_size - 1} here")
