# Tries messages that are a question and an answer at once (aimed at the judge).
# Must be read as one of the two; an invalid answer fails its test.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "seconds": 60}
# %%
import sys
import msgpack
from cellcage.protocol import calls

ask = calls.Call("softmax", [1.0]).as_bytes
FORMS = [{"question": ask, "reply": [1, ["list", []], None, ["dict", []], ["dict", []]]}, {"reply": None, "question": ask},
         {"question": None}, {"question": {"question": ask}}, {"question": msgpack.packb({"question": ask})}, {"question": b""},
         {"question": msgpack.packb({"call": ["softmax", 1, 2, 3, 4, 5]})}, {"question": msgpack.packb({"call": None})},
         {"question": msgpack.packb({"call": ["softmax", ["list", [["dict", [[["list", []], 1]]]]], ["dict", [[5, 6]]], None, None, False]})}]
sent = []

def framed(body):
    sent.append(1)
    body = msgpack.packb(FORMS[len(sent) % len(FORMS)])
    return len(body).to_bytes(4, "big") + body

def softmax(x, axis=-1):  # not before: what the cell itself says is framed, too
    sys.modules["cellcage.inside.notebook_process"].frames.framed = framed
    return x
