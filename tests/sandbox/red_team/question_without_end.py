# Tries to keep the trusted side busy with endless questions in every test.
# Must end at the limits.
# expect: {"answers": ["attention_scores", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1, "scaled_dot_product_attention": 0.1}, "seconds": 30}
# %%
import numpy as np

def softmax(x, axis=-1):
    return None

def scaled_dot_product_attention(Q, K, V):
    while True:
        try:
            softmax(np.ones((64, 64)))
        except Exception:
            pass
