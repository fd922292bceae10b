# Tries a dict whose keys are megabytes of text, where a message lists the keys (aimed at the worker).
# Must fail only that exercise, with a short message.
# expect: {"assignment": "a4_multi_head_attention", "at_most": {"projection_shapes": 0}, "never": "k{5000}"}
# %%
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"k" * 4_000_000 + str(i): (1, 2) for i in range(5)}

import sys
values = sys.modules["cellcage.values.codec"]
values.MAX_TEXT = 10**9
