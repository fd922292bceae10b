# Tries a reply of 30 MB that is millions of empty lists, gigabytes once they are made.
# Must end that call; no memory of ours may be taken.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "seconds": 60, "says": "could not be read"}
# %%
import sys

def sendable(answer):
    count = 30_000_000
    return b"\x81\xa5reply\xdd" + count.to_bytes(4, "big") + b"\x90" * count

sys.modules["cellcage.inside.notebook_process"].sendable = sendable

def softmax(x, axis=-1):
    return x
