# Tries to use one process for all exercises instead of a fork for each (aimed at the notebook process).
# Must earn no more than the student's own code does.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.2, "attention_scores": 1, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}, "seconds": 80}
# %%
import os, sys

kit = sys.modules["cellcage.inside.notebook_process"]
kit.os.fork = lambda: 0
kit.os._exit = lambda code: None
kit.os.setpgid = lambda *a: None
seen = []

def softmax(x, axis=-1):
    seen.append(x)
    return seen[0]
