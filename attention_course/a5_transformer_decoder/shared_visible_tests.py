"""What the visible tests of a5 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

from autograder.testing import expect

STAYS = "Which line makes a new array, of which dtype, and does one write into an old one?"


def waves(speed, *shape):
    """Numbers from -1 to 1, no two alike: the sines of 1, 2, 3, ... times speed."""
    return np.sin(speed * np.arange(1, np.prod(shape) + 1)).reshape(shape)


def tensors(weights, dtype="float32"):
    """Weights by name as PyTorch tensors."""
    import torch

    return {name: torch.tensor(value, dtype=getattr(torch, dtype)) for name, value in weights.items()}


def run_module(module, sizes, weights, *args, dtype="float32", **more):
    """Construct a module with `sizes`, copy weights in by name, and call it.

    The two layers of the feed-forward network may have names of their own; they are found by their shapes.
    """
    shapes = module.build(*sizes)
    found = {}
    for name, value in weights.items():
        head, among, tail = name.rpartition("feed_forward.")
        fits = [own for own, shape in shapes.items() if shape == np.shape(value) and own.startswith(head + among)]
        fits = [own for own in fits if own.endswith(tail.rpartition(".")[2])]
        found[fits[0] if among and name not in shapes and len(fits) == 1 else name] = value
    return module.run(sizes, tensors(found, dtype), *args, **more)


def block_of_waves(d_model, d_ff, first):
    """A block's weights, no two alike."""
    square, wide = (d_model, d_model), (d_ff, d_model)
    shapes = {f"attention.W_{name}.weight": square for name in "QKVO"}
    shapes |= {f"norm_{n}.{part}": (d_model,) for n in (1, 2) for part in ("weight", "bias")}
    shapes |= {"feed_forward.0.weight": wide, "feed_forward.0.bias": (d_ff,)}
    shapes |= {"feed_forward.2.weight": wide[::-1], "feed_forward.2.bias": (d_model,)}
    return {name: waves(first + i, *shape) for i, (name, shape) in enumerate(shapes.items())}


WAVES = "sines, no two alike"


def keeps_float64(part, what="the result"):
    """Fails unless the numbers are float64, with more digits than float32 has."""
    expect.dtype(part, np.float64, what=what)
    if (part == part.astype(np.float32)).all():
        expect.fail(f"{what} is float64, with the digits of float32.", symptom="dtype")
