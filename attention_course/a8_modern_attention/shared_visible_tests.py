"""What the visible tests of a8 share. Students may read this file; its numbers are those of the notebook."""

import numpy as np


def waves(speed, *shape):
    """Numbers from -1 to 1, no two alike: the sines of 1, 2, 3, ... times speed."""
    return np.sin(speed * np.arange(1, np.prod(shape) + 1)).reshape(shape)


WAVES = "sines, no two alike"

LN_3 = np.log(3.0)
