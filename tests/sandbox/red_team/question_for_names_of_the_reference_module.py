# Tries to ask for other names of the reference's module: builtins, numpy, file, source.
# Must be refused.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1}}
# %%
import sys
import numpy as np
from cellcage.protocol.calls import Call

def softmax(x, axis=-1):
    frame = sys._getframe()
    while frame is not None and "ask" not in frame.f_locals:
        frame = frame.f_back
    ask = frame.f_locals["ask"]
    for name in ("__builtins__", "np", "__file__", "__loader__", "eval", ["softmax"], {"a": 1}, None, 3, "argument 1"):
        try:
            reply = ask(Call(name, ["1"]))
        except Exception:
            return None
        if hasattr(reply, "value"):
            return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
    return None
