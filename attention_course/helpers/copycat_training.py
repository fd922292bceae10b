"""Train the model of `copycat`, in about a minute on one core.

    python -m attention_course.helpers.copycat_training            # rewrites copycat.safetensors
    python -m attention_course.helpers.copycat_training --steps 400 --to /tmp/short.safetensors

Students do not get this file, because it scores heads as assignment 9 asks.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import copycat
from .copycat_learning import Learning
from .copycat_learning import train as learn

STEPS = 1600
# The steps between two measurements, the texts for each measurement, and the words in each list.
LOOK_EVERY, LOOKED_AT, PERIOD = 20, 100, 12


def train(steps: int = STEPS) -> tuple[Learning, dict[str, np.ndarray]]:
    """Train a model for `steps` steps. Returns it with the arrays of its `copycat.History`."""
    looks: list[dict[str, Any]] = []

    def keep(step: int, model: Learning) -> None:
        if step % LOOK_EVERY == 0:
            looks.append({"steps": step, **look(model.as_copycat())})

    model = learn(copycat.PACES, steps, at_step=keep)
    return model, {name: np.array([look[name] for look in looks], dtype=np.float32) for name in looks[0]}


def look(model: copycat.Copycat) -> dict[str, Any]:
    """Measure the losses and head scores of `copycat.History`."""
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
    """Write weights and history as one safetensors file of float32."""
    from safetensors.numpy import save

    weights = {name: np.ascontiguousarray(W.detach().numpy()) for name, W in model.weights().items()}
    kept = {f"{copycat.HISTORY}{name}": array for name, array in history.items()}
    path.write_bytes(save({**weights, **kept}))


def main() -> None:
    """Train the model, write it, and print its scores."""
    parser = argparse.ArgumentParser(description="Train the model of `copycat` from nothing.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=copycat.FILE, help="where the numbers go")
    options = parser.parse_args()
    torch.set_num_threads(1)  # for a model this small, a second thread only costs time
    model, history = train(options.steps)
    write(model, history, options.to)
    first, again = history["first"][-1], history["again"][-1]
    print(f"{options.to}: loss of words that are new {first:.2f}, that come again {again:.3f}")
    for name in ("previous", "induction"):
        print(f"{name:9}", " ".join(f"{score:.2f}" for score in history[name][-1]))


if __name__ == "__main__":
    main()
