"""Train the model of `attention_course.helpers.trained_decoder`, in five minutes on one idle core.

    python -m tools.trained_decoder                                        # rewrites trained_decoder.safetensors
    python -m tools.trained_decoder --steps 40 --to /tmp/short.safetensors

The solution's `TransformerDecoder` of assignment 5 learns to predict the next token of *Pride and Prejudice*. In a
quarter of the texts a stretch of the novel is repeated, so that copying helps, as in the long and repetitive texts of
large models. The seed is fixed, and a single thread keeps the order of additions fixed.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save

from attention_course.helpers import byte_pairs, novel, novel_training, trained_decoder
from autograder.course.assignments import Course

SEED, STEPS, BATCH, RATE = 1813, 2400, 16, 3e-3
WARM_UP = 100  # steps
AGAIN = 4  # texts of a batch in which a stretch is repeated
SHORTEST = 8  # tokens of such a stretch
L = trained_decoder.MAX_LENGTH


def main() -> None:
    """Train the model and write its weights to a file."""
    parser = argparse.ArgumentParser(description="Train the model of `trained_decoder` from scratch.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=trained_decoder.FILE, help="the output file")
    options = parser.parse_args()
    text, held_out = novel.text()
    tokens = byte_pairs.Tokenizer(byte_pairs.learn(text, trained_decoder.SIZES["vocab_size"]))
    model = train(torch.tensor(tokens.encode(text)), torch.tensor(tokens.encode(held_out)), options.steps)
    write(model, tokens, options.to)


def train(ids: torch.Tensor, held_out: torch.Tensor, steps: int) -> torch.nn.Module:
    """Train a decoder for `steps` steps on `ids`, and print its loss on `held_out` every 200 steps."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    solution = Course(Path(__file__).parents[1]).assignment("a5_transformer_decoder").reference()
    model = solution.TransformerDecoder(**trained_decoder.SIZES)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: pace(step, steps))
    for step in range(steps):
        x = drawn(ids)
        loss = novel_training.loss(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 200 == 0 or step == steps - 1:
            with torch.no_grad():
                on_held_out = novel_training.loss(model, held_out[: len(held_out) // L * L].view(-1, L))
            print(f"step {step:4}   loss {loss:.3f}   held out {on_held_out:.3f}", flush=True)
    return model


def drawn(ids: torch.Tensor) -> torch.Tensor:
    """A random batch of texts, (BATCH, L). The first `AGAIN` of them repeat a stretch."""
    x = ids[torch.randint(len(ids) - L, (BATCH, 1)) + torch.arange(L)]
    for row in range(AGAIN):
        period = int(torch.randint(SHORTEST, L // 2 + 1, ()))
        x[row] = x[row, torch.arange(L) % period]
    return x


def pace(step: int, steps: int) -> float:
    """The factor of the learning rate: a linear warm-up, then half a cosine."""
    return min((step + 1) / WARM_UP, max(0.02, (1 + math.cos(math.pi * step / steps)) / 2))


def write(model: torch.nn.Module, tokens: byte_pairs.Tokenizer, path: Path) -> None:
    """Write weights as float16, positions as float32, and the tokenizer's merges as pairs of token ids."""
    arrays = {name: tensor.numpy().astype(np.float16) for name, tensor in model.state_dict().items()}
    arrays["positions"] = model.state_dict()["positions"].numpy()
    ids = {token: number for number, token in enumerate(tokens.tokens)}
    arrays[trained_decoder.MERGES] = np.array([[ids[a], ids[b]] for a, b in tokens.merges], dtype=np.int16)
    path.write_bytes(save(arrays))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
