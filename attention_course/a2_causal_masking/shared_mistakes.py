"""What known mistakes of a2 share: ways of softmax, under a mask."""

from ..hidden import mutation_options, softmax_options

NUMPY, TORCH = softmax_options.numpy_ways(), softmax_options.torch_ways()
SHIFTS = softmax_options.SHIFTS
UNDER = mutation_options.MASKS | mutation_options.NOTHING | softmax_options.AXES
CURVES = mutation_options.without(softmax_options.CURVES, "no-exponential", "hard-maximum", "mean-for-sum")
