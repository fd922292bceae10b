"""Small models that hidden tests hand to student code: confident, fast, and sensitive to every token.

Each is an ordinary `nn.Module`: token ids (B, L) in, logits (B, L, vocab_size) out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

WIDTH = 8
# An exercise's texts have at most 78 tokens. Longer ones raise an error, so that an endless loop ends soon.
MAX_LENGTH = 80
LONGEST = 4500  # tokens that `Adder` reads; a window of 4,096 is a common mistake
SHORT = 60  # positions from here on are drawn with a generator of their own
CERTAIN = 50.0  # added to the end token's logit


class Reader(nn.Module):  # type: ignore[misc]
    """A model with random float64 weights. Logits depend on every token up to their position, and on the order.

    The tokens read so far are each multiplied by their position's numbers, summed, and passed through a tanh. NumPy
    computes this in microseconds; PyTorch's threads may take a hundred times as long for a product this small. `lift`
    is added to all logits.
    """

    def __init__(self, seed: int, vocab_size: int = 23, lift: float = 0.0) -> None:
        super().__init__()
        random = np.random.default_rng(seed)

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.from_numpy(random.normal(size=shape)), requires_grad=False)

        self.words, places = drawn(vocab_size, WIDTH), drawn(SHORT, WIDTH)
        later = np.random.default_rng([seed, SHORT]).normal(size=(MAX_LENGTH - SHORT, WIDTH))
        self.places = nn.Parameter(torch.cat([places, torch.from_numpy(later)]), requires_grad=False)
        self.last, self.output = drawn(vocab_size, WIDTH), drawn(WIDTH, vocab_size)
        self.lift = lift

    def forward(self, token_ids: Any) -> Any:
        """Logits (B, L, vocab_size). Raises `ValueError` if `token_ids` are not a batch of valid ids."""
        check_ids(token_ids, len(self.words))
        words, places, last, output = (p.numpy() for p in (self.words, self.places, self.last, self.output))
        ids, L = token_ids.numpy(), token_ids.shape[1]
        read = np.cumsum(words[ids] * places[:L], axis=1) / np.sqrt(np.arange(1, L + 1))[:, np.newaxis]
        return torch.from_numpy(np.tanh(read + last[ids]) @ output + self.lift)  # (B, L, vocab_size)

    def __repr__(self) -> str:
        return "a small model"


class Storyteller(Reader):
    """A reader that writes `length` tokens after the separator, then the end token, and more tokens if not stopped.

    Without a separator, nothing tells it to start writing, and it never ends.
    """

    def __init__(self, seed: int, length: int, separator_id: int, end_id: int, vocab_size: int = 23) -> None:
        super().__init__(seed, vocab_size)
        self.length, self.separator_id, self.end_id = length, separator_id, end_id

    def forward(self, token_ids: Any) -> Any:
        """As `Reader.forward`, but the end token wins after `length` tokens, and the separator never does."""
        logits = super().forward(token_ids)
        is_separator = token_ids.numpy() == self.separator_id
        place = np.arange(token_ids.shape[1])
        since = place - np.maximum.accumulate(np.where(is_separator, place, -1), axis=1)  # tokens since the separator
        done = (since == self.length) & (is_separator.cumsum(axis=1) > 0)  # (B, L)
        # Neither the largest nor the smallest logit, so that a loop that picks the smallest does not end early, either.
        middle = logits.mean(dim=-1)
        logits[..., self.separator_id] = middle
        logits[..., self.end_id] = middle + torch.from_numpy(np.where(done, CERTAIN, 0.0))
        return logits


class Adder(nn.Module):  # type: ignore[misc]
    """A model without parameters. What it says depends on the sum and the number of all tokens, however many."""

    def __init__(self, vocab_size: int = 23) -> None:
        super().__init__()
        self.vocab_size = vocab_size

    def forward(self, token_ids: Any) -> Any:
        """Logits (B, L, vocab_size), 0 or below. Raises `ValueError` if `token_ids` are not a batch of valid ids."""
        check_ids(token_ids, self.vocab_size, LONGEST)
        said = 2 * token_ids.cumsum(dim=1) + 6 * torch.arange(1, token_ids.shape[1] + 1)  # (B, L)
        return -((torch.arange(self.vocab_size) - said.unsqueeze(-1)) % self.vocab_size).double()

    def __repr__(self) -> str:
        return "a model that adds up all it has read"


def check_ids(token_ids: Any, vocab_size: int, most: int = MAX_LENGTH) -> None:
    """Raises `ValueError`, with a message for students, unless `token_ids` is a batch of valid ids."""
    if not isinstance(token_ids, torch.Tensor):
        raise ValueError(f"a model takes a tensor of token ids, not a {type(token_ids).__name__}")
    if token_ids.dtype != torch.int64:
        raise ValueError(f"token ids are whole numbers (int64), not {token_ids.dtype}")
    if token_ids.ndim != 2:
        raise ValueError(f"a model takes a batch of texts, (B, L); these ids have shape {tuple(token_ids.shape)}")
    if not 0 < token_ids.shape[1] <= most:
        raise ValueError(f"this model takes texts of 1 to {most} tokens, not of {token_ids.shape[1]}")
    if token_ids.min() < 0 or token_ids.max() >= vocab_size:
        raise ValueError(f"token ids are from 0 to {vocab_size - 1} here")
