# Tries questions with invalid handles, in handles, in lists and as names (aimed at the judge).
# Must be refused.
# expect: {"answers": ["attention_scores", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 0}}
# %%
import sys
from cellcage.protocol.calls import Call
from cellcage.values.codec import Handle

def softmax(x, axis=-1):
    return None

def scaled_dot_product_attention(Q, K, V):
    frame = sys._getframe()
    while frame is not None and "ask" not in frame.f_locals:
        frame = frame.f_back
    ask = frame.f_locals["ask"]
    softmax
    inner = Handle("argument 1", ["a"] * 50, {"W": Q})
    for call in (Call("softmax", [inner]), Call("softmax", [[inner, [inner]]]), Call("argument 1", [Q]), Call("softmax", [Handle("softmax", [], None)]),
                 Call("softmax", [Handle("__builtins__", [], {"x": Handle("y", [], {})})]), Call("softmax", [Q], {"axis": inner}), Call("", [inner])):
        try:
            ask(call)
        except Exception:
            pass
    return None
