# Tries a loop inside one C call, which no signal handler of Python's interrupts.
# Must cost the tests that met it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "loop"}
# %%
import itertools
def softmax(x, axis=-1):
    return sum(itertools.repeat(1))
