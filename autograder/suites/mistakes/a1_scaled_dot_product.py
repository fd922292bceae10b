"""Known mistakes of a1: scaled dot-product attention."""

import numpy as np

from autograder.suites.catalogue import Catalogue

mistake = Catalogue()


@mistake("no-scaling", hint="What are the dot products divided by, and what would happen to the softmax without it?")
def attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1)
