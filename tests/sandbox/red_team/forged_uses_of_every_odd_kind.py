# Tries lists of used names that are no lists or contain no names (aimed at the judge).
# Must cost at most follow-through: exercises that use the stub of softmax lose their points.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 0}, "seconds": 60}
# %%
import sys

frames = sys.modules["cellcage.inside.notebook_process"].frames
send = frames.send

def forged(sock, message, deadline=None):
    if type(sys._getframe(1).f_locals.get("message")).__name__ == "LookUses":
        odd = [5, None, {"softmax": 1}, "softmax", b"softmax", [["softmax"]] * 2000, -1.5]
        message = {"names": odd[len(sys._getframe(1).f_locals["self"].shell.user_ns) % len(odd)]}
    return send(sock, message, deadline)

frames.send = forged
