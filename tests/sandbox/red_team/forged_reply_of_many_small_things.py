# Tries a reply of 30 MB with millions of empty lists, which would take gigabytes in memory.
# Must end that call, without memory on the trusted side.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "seconds": 60, "says": "could not be read"}
# %%
import sys

def sendable(answer):
    count = 30_000_000
    return b"\x81\xa5reply\xdd" + count.to_bytes(4, "big") + b"\x90" * count

sys.modules["cellcage.inside.notebook_process"].sendable = sendable

def softmax(x, axis=-1):
    return x
