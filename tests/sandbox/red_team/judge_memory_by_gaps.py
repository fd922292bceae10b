# Tries strided replies near the limit, which take twice their bytes in memory, in every field (aimed at the judge).
# Must stop at a limit for the whole submission. If that is its time, later exercises get nothing.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}, "seconds": 60}
# %%
import sys
import msgpack

def framed(body):
    array = ["array", "uint8", [15_000_000], [0], True, bytes(15_000_000)]
    body = msgpack.packb({"reply": [array, ["list", [array]], None, ["dict", []], ["dict", []]]})
    return len(body).to_bytes(4, "big") + body

def softmax(x, axis=-1):
    sys.modules["cellcage.inside.notebook_process"].frames.framed = framed
    return x
