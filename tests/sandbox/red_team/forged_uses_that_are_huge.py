# Tries used names of 20 MB (aimed at the judge).
# Must cost at most follow-through: exercises that use the stub of softmax lose their points.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 0}, "seconds": 60}
# %%
import sys

frames = sys.modules["cellcage.inside.notebook_process"].frames
send = frames.send

def forged(sock, message, deadline=None):
    if type(sys._getframe(1).f_locals.get("message")).__name__ == "LookUses":
        message = {"names": ["x" * 20_000_000, 5, None, ["softmax"], "softmax"]}
    return send(sock, message, deadline)

frames.send = forged
