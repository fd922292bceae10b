"""What known mistakes of a2 share: ways of softmax, under a mask."""

from ..hidden import mutation_options

NUMPY, TORCH = mutation_options.numpy_ways(), mutation_options.torch_ways()
SHIFTS = mutation_options.SHIFTS
UNDER = mutation_options.MASKS | mutation_options.NOTHING | mutation_options.AXES
CURVES = mutation_options.without(mutation_options.CURVES, "no-exponential", "hard-maximum", "mean-for-sum")
