# Tries empty frames (aimed at the judge).
# Must fail only those tests.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}}
# %%
import sys

def softmax(x, axis=-1):
    sys.modules["cellcage.inside.notebook_process"].frames.framed = lambda body: bytes(4)
    return x
