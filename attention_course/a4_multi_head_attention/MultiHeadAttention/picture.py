"""What `check` draws of MultiHeadAttention."""

from autograder.suites.example import Example

from ..shared_picture import TWO_HEADS, W_K, W_O, W_Q, W_V, WORDS, X

PICTURE = Example(
    (4, 2, 5),
    wanted=TWO_HEADS,
    rows=WORDS,
    columns=WORDS,
    part=1,
    tensors=True,
    # nn.Linear keeps its weight as (out, in).
    parameters={f"{name}.weight": W.T for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))},
    forward=(X,),
)
