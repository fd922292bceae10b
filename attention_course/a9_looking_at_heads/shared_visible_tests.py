"""What the visible tests of a9 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np

# d_model three, two heads of width two.
TO_QUERIES = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 3.0]])
