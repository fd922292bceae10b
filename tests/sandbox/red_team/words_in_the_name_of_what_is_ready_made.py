# Tries the name of a ready-made function that is none, with the input in it (aimed at the judge).
# Must not stand in a message.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "never": "SECRET"}
# %%
import sys
from cellcage.protocol.calls import Failure, Kind

def forged(names, call, *rest):
    return Failure(Kind.READY_MADE, f"SECRET {call.args[0]!r:.100}")

sys.modules["cellcage.inside.notebook_process"].perform = forged
