# Tries errors and replies that don't follow the protocol.
# Must fail only those tests; the report is still made.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}}
# %%
import sys
import msgpack

FORMS = [{"failure": 5}, {"failure": ["raised", "x", ["ValueError"], [[1, 2, 3]] * 9]}, {"reply": [{1: {2: (3, None)}}]},
         {"failure": None, "reply": 1}, {"reply": [1, 3, "x", [1], []]}, {}, {"reply": ["x" * 30_000, [], None, ["dict", []], 1]},
         {"failure": ["no such kind", "", "", []]}, {"reply": [["list", [["other", ["type", 3]]]], ["list", []], None, ["dict", []], ["dict", []]]}]
calls = []

def sendable(answer):
    calls.append(1)
    return msgpack.packb(FORMS[len(calls) % len(FORMS)])

sys.modules["cellcage.inside.notebook_process"].sendable = sendable
