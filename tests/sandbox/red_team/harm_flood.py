# Tries a flood of output, with print and through descriptors.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "None"}
# %%
import os
def softmax(x, axis=-1):
    for _ in range(2000):
        print("x" * 1000)
        os.write(1, b"x" * 100_000)
        os.write(2, b"x" * 100_000)
    return None
