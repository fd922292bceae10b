"""How `trained_decoder` came by its numbers: `python -m tools.trained_decoder`, five minutes on one idle core.

    python -m tools.trained_decoder                                        # writes trained_decoder.safetensors anew
    python -m tools.trained_decoder --steps 40 --to /tmp/short.safetensors

Assignment 5's `TransformerDecoder`, as the solution has it, learns to say the next token of *Pride and Prejudice*. In a
quarter of what it reads a stretch of the novel comes again, round and round, so that copying pays, as it does in the
long and repetitive texts that large models read. The seed is fixed, and one thread adds up in one order.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save
from torch.nn.functional import cross_entropy

from attention_course.helpers import byte_pairs, novel, trained_decoder
from autograder.course import Course

SEED, STEPS, BATCH, RATE = 1813, 2400, 16, 3e-3
WARM_UP = 100  # steps
AGAIN = 4  # texts of a batch in which a stretch comes again
SHORTEST = 8  # tokens of such a stretch
L = trained_decoder.MAX_LENGTH


def main() -> None:
    """Train, write, and say how it went."""
    parser = argparse.ArgumentParser(description="Train the model of `trained_decoder` from nothing.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=trained_decoder.FILE, help="where the numbers go")
    options = parser.parse_args()
    text, held_out = novel.text()
    tokens = byte_pairs.Tokenizer(byte_pairs.learn(text, trained_decoder.SIZES["vocab_size"]))
    model = train(torch.tensor(tokens.encode(text)), torch.tensor(tokens.encode(held_out)), options.steps)
    write(model, tokens, options.to)


def train(ids: torch.Tensor, held_out: torch.Tensor, steps: int) -> torch.nn.Module:
    """A decoder after so many steps on `ids`; the loss on `held_out` is printed now and then."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    solution = Course(Path(__file__).parents[1]).assignment("a5_transformer_decoder").reference()
    model = solution.TransformerDecoder(**trained_decoder.SIZES)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: pace(step, steps))
    for step in range(steps):
        x = drawn(ids)
        loss = surprise(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 200 == 0 or step == steps - 1:
            with torch.no_grad():
                there = surprise(model, held_out[: len(held_out) // L * L].view(-1, L))
            print(f"step {step:4}   loss {loss:.3f}   held out {there:.3f}", flush=True)
    return model


def drawn(ids: torch.Tensor) -> torch.Tensor:
    """A batch of texts, (BATCH, L); in the first of them a stretch comes again and again."""
    x = ids[torch.randint(len(ids) - L, (BATCH, 1)) + torch.arange(L)]
    for row in range(AGAIN):
        period = int(torch.randint(SHORTEST, L // 2 + 1, ()))
        x[row] = x[row, torch.arange(L) % period]
    return x


def surprise(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The mean loss of all tokens of `x` (B, L) from the second on."""
    return cross_entropy(model(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten())


def pace(step: int, steps: int) -> float:
    """Slowly at first, then down along half a cosine."""
    return min((step + 1) / WARM_UP, max(0.02, (1 + math.cos(math.pi * step / steps)) / 2))


def write(model: torch.nn.Module, tokens: byte_pairs.Tokenizer, path: Path) -> None:
    """Weights and positions as float16, which is plenty, and the pairs of the tokenizer as ids of tokens."""
    arrays = {name: tensor.numpy().astype(np.float16) for name, tensor in model.state_dict().items()}
    ids = {token: number for number, token in enumerate(tokens.tokens)}
    arrays[trained_decoder.MERGES] = np.array([[ids[a], ids[b]] for a, b in tokens.merges], dtype=np.int16)
    path.write_bytes(save(arrays))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
