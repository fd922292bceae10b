"""What the hidden tests of a5 share: bounds, and weights for a block and a decoder.

Sizes differ: B=2, L=5 or 6, d_model=12, h=3, d_ff=48, a vocabulary of 11; `test_real_sizes` has larger and smaller
ones. Modules get their weights from here, by name, so that results do not depend on a seed. Other names, or a missing
norm or bias, fail `test_parameters`; the other tests use what is there. To judge one branch of a block alone, the last
layer of the other branch is set to zero, so that it adds nothing. A test's weight is its points; together they are the
points of the cell.
"""

import math

import numpy as np

from ..hidden.inputs import normal

ATOL = 1e-4  # correct float32 code is within 1e-5 of the float64 reference, the mildest known mistake 0.01 away
BY_NAME = "The names of the arguments are those in the first line you were given."


def block_weights(seed, d_model=12, num_heads=3, d_ff=48, prefix=""):
    """Weights of a block by name. Scores are around 2, and both branches add numbers around 1."""
    attention, wide = 1.4 / math.sqrt(d_model), 1 / math.sqrt(d_ff)
    found = {f"norm_{i}.weight": 1 + 0.4 * normal(seed + i, d_model) for i in (1, 2)}
    found |= {f"norm_{i}.bias": 0.4 * normal(seed + 2 + i, d_model) for i in (1, 2)}
    found |= {
        f"attention.W_{k}.weight": attention * normal(seed + 5 + i, d_model, d_model) for i, k in enumerate("QKVO")
    }
    found["feed_forward.0.weight"] = attention * normal(seed + 9, d_ff, d_model)
    found["feed_forward.0.bias"] = 0.5 * normal(seed + 10, d_ff)
    found["feed_forward.2.weight"] = 1.4 * wide * normal(seed + 11, d_model, d_ff)
    found["feed_forward.2.bias"] = 0.5 * normal(seed + 12, d_model)
    return {prefix + name: value for name, value in found.items()}


def with_padding(texts, length):
    """Padding (texts, 1, length) in the middle and at the end. The first word is real, so that every word sees one."""
    places, text = np.arange(length), np.arange(texts)[:, np.newaxis]
    return ((places % (5 + text) != 3) & (places < length - 2 - text))[:, np.newaxis]


def silent(weights, *names):
    """`weights`, with zeros for each name that ends in one of `names`."""
    return {name: value * (not name.endswith(names)) for name, value in weights.items()}


ATTENTION_MATRICES = tuple(f"attention.W_{k}.weight" for k in "QOKV")
FEED_FORWARD_MATRICES = ("feed_forward.0.weight", "feed_forward.2.weight")
ATTENTION_SILENT = ("attention.W_O.weight",)
FEED_FORWARD_SILENT = ("feed_forward.2.weight", "feed_forward.2.bias")

KEPT = "What does your module keep of a call?"
