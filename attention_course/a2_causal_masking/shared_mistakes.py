"""What known mistakes of a2 share: ways of softmax, under a mask."""

from ..hidden import decisions

NUMPY, TORCH = decisions.numpy_ways(), decisions.torch_ways()
UNDER = decisions.MASKS | decisions.NOTHING | decisions.AXES
CURVES = decisions.without(decisions.CURVES, "no-exponential", "hard-maximum", "mean-for-sum")
