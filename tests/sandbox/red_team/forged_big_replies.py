# Tries 15 MB for every answer, hundreds of them.
# Must stop at a limit for the whole submission.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1, "attention_scores": 0.1, "scaled_dot_product_attention": 0.1, "torch_scaled_dot_product_attention": 0.1}, "seconds": 60, "says": ""}
# %%
import sys

def reply(performer, call, closely=False):
    import numpy as np
    from cellcage.protocol.calls import Reply
    return Reply(np.zeros((1900, 1000)))

sys.modules["cellcage.inside.notebook_process"].Performer.perform = reply
