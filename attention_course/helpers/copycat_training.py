"""How `copycat` came by its numbers: trained from nothing, in about a minute on one core.

    python -m attention_course.helpers.copycat_training            # writes copycat.safetensors anew
    python -m attention_course.helpers.copycat_training --steps 400 --to /tmp/short.safetensors

A text is a list of random words, no two alike, and then the same list again from some word on, round and round. Where
it goes on differs from text to text, so that no fixed distance helps: only looking a word up does.

What students install does not hold this file, for it knows how heads are scored.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from . import copycat

SEED = 20220924  # "In-context Learning and Induction Heads"
STEPS, BATCH = 1600, 32
D_MODEL, D_HEAD, LAYERS = 64, 16, 2
RATE = 0.01
# How fast the heads of each layer learn. Adam takes steps of one size for all, so heads that start alike come to do the
# same, a bit each. With a head start one does the work, and others find something else to do, as in larger models.
HASTE = ((0.1, 0.05, 1.0, 0.3), (0.3, 1.0, 0.05, 0.1))
# A look at it every so many steps, at so many texts.
LOOK_EVERY, LOOKED_AT, PERIOD = 20, 100, 12


def draw(count: int, random: np.random.Generator) -> torch.Tensor:
    """Texts to learn from, (count, LONGEST): a list of words, and then again from some word of it on."""
    L = copycat.LONGEST
    words = random.permuted(np.tile(np.arange(len(copycat.WORDS)), (count, 1)), axis=1)
    period = random.integers(L // 5, L // 2 + 1, size=(count, 1))  # (count, 1): words in the list
    start = random.integers(0, period)  # where it goes on after the first time
    place = np.arange(L)
    return torch.from_numpy(
        np.take_along_axis(words, np.where(place < period, place, (place + start) % period), axis=1)
    )


class Learning(nn.Module):  # type: ignore[misc]
    """The model of `copycat` while it learns: the same numbers under the same names, one head's beside the next."""

    def __init__(self) -> None:
        super().__init__()
        V, wide = len(copycat.WORDS), copycat.NUM_HEADS * D_HEAD

        def drawn(*shape: int, std: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape) * std)

        self.embedding = drawn(V, D_MODEL, std=D_MODEL**-0.5)
        self.positions = drawn(copycat.LONGEST, D_MODEL, std=D_MODEL**-0.5)
        self.unembedding = drawn(D_MODEL, V, std=D_MODEL**-0.5)
        # A number is what is learned times its head's haste. So a step moves it by that much more or less; at the
        # beginning a slow head is only a little quieter.
        haste = torch.tensor(HASTE).repeat_interleave(D_HEAD, dim=1)  # (n, h * d)
        self.register_buffer("by_column", haste[:, None])
        self.register_buffer("by_row", haste[:, :, None])
        self.W_Q, self.W_K, self.W_V = (
            nn.Parameter(torch.randn(LAYERS, D_MODEL, wide) * D_MODEL**-0.5 / self.by_column.sqrt()) for _ in "QKV"
        )
        self.W_O = nn.Parameter(torch.randn(LAYERS, wide, D_MODEL) * wide**-0.5 / self.by_row.sqrt())

    def weights(self) -> dict[str, torch.Tensor]:
        """The numbers that `copycat.Copycat` takes, by name."""
        columns = {name: getattr(self, name) * self.by_column for name in ("W_Q", "W_K", "W_V")}
        others = {name: getattr(self, name) for name in ("embedding", "positions", "unembedding")}
        return {**columns, "W_O": self.W_O * self.by_row, **others}

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits (B, L, V) of word numbers (B, L)."""
        W = self.weights()
        x = W["embedding"][ids] + W["positions"][: ids.shape[1]]
        for layer in range(LAYERS):
            query, key, value = (_by_head(x @ W[name][layer]) for name in ("W_Q", "W_K", "W_V"))
            found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + found.transpose(1, 2).flatten(2) @ W["W_O"][layer]
        return x @ W["unembedding"]

    def as_copycat(self) -> copycat.Copycat:
        """What it is now, for NumPy."""
        return copycat.Copycat(**{name: W.detach().double().numpy() for name, W in self.weights().items()})


def _by_head(projected: torch.Tensor) -> torch.Tensor:
    return projected.unflatten(-1, (copycat.NUM_HEADS, D_HEAD)).transpose(1, 2)  # (B, h, L, d)


def train(steps: int = STEPS, seed: int = SEED) -> tuple[Learning, dict[str, np.ndarray]]:
    """A model after so many steps, and its history as `copycat.History` has it."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    model = Learning()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _pace(step, steps))
    looks = []
    for step in range(steps + 1):
        if step % LOOK_EVERY == 0:
            looks.append({"steps": step, **look(model.as_copycat())})
        ids = draw(BATCH, random)
        loss = nn.functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model, {name: np.array([look[name] for look in looks], dtype=np.float32) for name in looks[0]}


def _pace(step: int, steps: int) -> float:
    """Slowly at first, and more and more slowly in the last third."""
    return min(1.0, step / 100, 3 * max(0, steps - step) / steps)


def look(model: copycat.Copycat) -> dict[str, Any]:
    """Loss and scores of heads at this moment, as `copycat.History` has them."""
    ids = copycat.texts(LOOKED_AT, PERIOD, seed=1)
    reading = model.read(ids)
    losses = copycat.losses(reading.logits, ids).mean(axis=0)
    weights = np.concatenate([layer.mean(axis=0) for layer in reading.weights])  # (layers * h, L, L)
    again = weights[:, PERIOD:, 1 : PERIOD + 1]
    return {
        "first": losses[: PERIOD - 1].mean(),
        "again": losses[PERIOD:].mean(),
        "previous": np.trace(weights[:, 1:, :-1], axis1=1, axis2=2) / (2 * PERIOD - 1),
        "induction": np.trace(again, axis1=1, axis2=2) / PERIOD,
    }


def write(model: Learning, history: dict[str, np.ndarray], path: Path) -> None:
    """All of it as one safetensors file of float32."""
    from safetensors.numpy import save

    weights = {name: np.ascontiguousarray(W.detach().numpy()) for name, W in model.weights().items()}
    kept = {f"{copycat.HISTORY}{name}": array for name, array in history.items()}
    path.write_bytes(save({**weights, **kept}))


def main() -> None:
    """Train, write, and say how it went."""
    parser = argparse.ArgumentParser(description="Train the model of `copycat` from nothing.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=copycat.FILE, help="where the numbers go")
    options = parser.parse_args()
    torch.set_num_threads(1)  # in a model this small, two cores would mostly wait for each other
    model, history = train(options.steps)
    write(model, history, options.to)
    first, again = history["first"][-1], history["again"][-1]
    print(f"{options.to}: loss of words that are new {first:.2f}, that come again {again:.3f}")
    for name in ("previous", "induction"):
        print(f"{name:9}", " ".join(f"{score:.2f}" for score in history[name][-1]))


if __name__ == "__main__":
    main()
