"""What the known mistakes of a2 share: wrong kinds of softmax under a mask."""

import numpy as np

from ..hidden import mutation_options, softmax_options
from ..hidden.part_options import AHEAD

NUMPY, TORCH = softmax_options.numpy_functions(), softmax_options.torch_functions()
SHIFTS = softmax_options.SHIFTS
UNDER = mutation_options.MASKS | mutation_options.NOTHING | softmax_options.AXES
CURVES = mutation_options.without(softmax_options.CURVES, "no-exponential", "hard-maximum", "mean-for-sum")


def _seen(ahead):
    """A causal mask that lets a query see some later keys."""

    def table(mask):
        place = np.arange(len(mask))
        return mask | ahead(place[:, None], place, len(mask))

    return table


SEEN_AHEAD = [_seen(ahead) for ahead in AHEAD]
