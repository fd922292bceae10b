# Tries names of 20 MB among those that are used (aimed at the judge).
# Must be counted among what may come in; its own names are all that is asked for.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 1, "attention_scores": 1, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}, "seconds": 60}
# %%
import sys

frames = sys.modules["autograder.sandbox.inside.notebook"].frames
send = frames.send

def forged(sock, message, deadline=None):
    if "uses" in message:
        message = {"uses": ["x" * 20_000_000, 5, None, ["softmax"], "softmax"]}
    return send(sock, message, deadline)

frames.send = forged
