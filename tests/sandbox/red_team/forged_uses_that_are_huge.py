# Tries names of 20 MB among those that are used (aimed at the judge).
# Must cost no more than that nothing is followed through: what the stub of softmax spoils stays spoilt.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 0}, "seconds": 60}
# %%
import sys

frames = sys.modules["cellcage.inside.notebook_process"].frames
send = frames.send

def forged(sock, message, deadline=None):
    if hasattr(message, "uses"):
        message = {"uses": ["x" * 20_000_000, 5, None, ["softmax"], "softmax"]}
    return send(sock, message, deadline)

frames.send = forged
