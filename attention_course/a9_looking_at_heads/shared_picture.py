"""What several pictures of a9 show."""

import numpy as np

# Each word has a number of its own, so a circuit leads from word to word. No two sizes are alike: seven words, two
# heads, three numbers a head. Head 0 is for things, places and people, head 1 for what joins them.
WORDS = ("Keys", "on", "the", "table", "belong", "to", "Sarah")
W_K = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.5, 1.0, -0.25, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, -0.5, 1.0],
        [0.0, 0.0, 0.0, 0.25, 0.0, 0.5],
        [0.0, 0.25, 1.0, 0.0, 0.0, 0.0],
    ]
)
