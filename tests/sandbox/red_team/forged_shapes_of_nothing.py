# Tries arrays of zero bytes with a huge second axis, so that a sum over it takes all memory.
# Must end that call, not the grader.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}}
# %%
import sys
from cellcage.protocol import calls

class Raw:
    pass

encode = calls.encode

def forged(value, depth=0):
    if isinstance(value, Raw):
        return ["array", "float64", [2**40, 0], [0, 1], False, b""]
    return encode(value, depth)

calls.encode = forged

def reply(performer, call, closely=False):
    return calls.Reply(Raw())

sys.modules["cellcage.inside.notebook_process"].Performer.perform = reply
