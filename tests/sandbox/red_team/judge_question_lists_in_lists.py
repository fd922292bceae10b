# Tries nested lists with a short outer list, which broadcast to gigabytes (aimed at the judge).
# Must be refused quickly, without memory on the trusted side.
# expect: {"answers": ["softmax", "torch_scaled_dot_product_attention"], "at_most": {"attention_scores": 0.1, "scaled_dot_product_attention": 0.1}, "seconds": 25}
# %%
import numpy as np

def attention_scores(Q, K):
    return None

def scaled_dot_product_attention(Q, K, V):
    long = [[[1.0]] * 8_000]
    for _ in range(20):
        try:
            attention_scores(np.ones((1, 1, 1)), long)
            attention_scores(long, long)
        except Exception:
            pass
    return None
