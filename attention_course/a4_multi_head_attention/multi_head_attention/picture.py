"""What `check` draws of multi_head_attention."""

from autograder.suites.example import Example

from ..shared_picture import TWO_HEADS, W_K, W_O, W_Q, W_V, WORDS, X

PICTURE = Example((X, W_Q, W_K, W_V, W_O, 2), wanted=TWO_HEADS, rows=WORDS, columns=WORDS, part=1)
