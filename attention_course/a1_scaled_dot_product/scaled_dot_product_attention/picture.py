"""What `check` draws of scaled_dot_product_attention."""

from autograder.suites.example import Example

from ..shared_picture import ASKING, TEXT, WEIGHTS, K, Q, V

PICTURE = Example((Q, K, V), wanted=WEIGHTS, rows=ASKING, columns=TEXT, part=1)
