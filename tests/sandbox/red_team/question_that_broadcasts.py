# Tries to make the trusted side broadcast axes of length one to gigabytes.
# Must be refused quickly, without memory on the trusted side.
# expect: {"answers": ["torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1, "attention_scores": 0.1, "scaled_dot_product_attention": 0.1}, "seconds": 20}
# %%
import numpy as np

def softmax(x, axis=-1):
    return None

def attention_scores(Q, K):
    return None

def scaled_dot_product_attention(Q, K, V):
    wide, high = np.ones((256, 1, 256, 1)), np.ones((1, 256, 256, 1))
    attention_scores(wide, high)
    attention_scores(np.ones((256, 256, 1, 1, 1, 1)), np.ones((1, 1, 256, 256, 1, 1)))
    return None
