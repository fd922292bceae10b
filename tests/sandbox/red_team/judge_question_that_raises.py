# Tries questions with arguments that make the reference raise (aimed at the judge).
# Must fail only that exercise.
# expect: {"answers": ["attention_scores", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 0}}
# %%
import numpy as np
from cellcage.protocol.calls import Call, Instance

def softmax(x, axis=-1):
    return None

def scaled_dot_product_attention(Q, K, V):
    import sys
    frame = sys._getframe()
    while frame is not None and "ask" not in frame.f_locals:
        frame = frame.f_back
    ask = frame.f_locals["ask"]
    softmax  # it looks it up
    for call in (Call("softmax"), Call("softmax", [1, 2, 3, 4]), Call("softmax", [], {"out": 1}), Call("softmax", [Q], {"self": 1}),
                 Call("softmax", [Q], {}, Instance((Q,))), Call("softmax", [Q], {}, Instance(), None, True), Call("softmax", [Q], {}, None, [1]),
                 Call("softmax", [Q], {}, None, [None, "x", Q]), Call("softmax", [{"a": Q}]), Call("softmax", [Q], {"axis": 2**62}),
                 Call("softmax", [Q], {"axis": float("nan")}), Call("softmax", [Q], {"axis": [0] * 500}), Call("softmax", ["x" * 99]),
                 Call("softmax", [Q], {"": 1}), Call("softmax", [Q], {"axis": None}), Call("softmax" * 10_000, [Q]), Call("", [])):
        try:
            ask(call)
        except Exception:
            pass
    return None
