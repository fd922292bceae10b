# Tries NaN, which every comparison calls unequal.
# Must earn no points for values.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1}}
# %%
import numpy as np

def softmax(x, axis=-1):
    return np.full_like(x, np.nan)
