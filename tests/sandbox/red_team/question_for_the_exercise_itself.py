# Tries to ask for the exercise that is being tested, and for later ones.
# Must be refused.
# expect: {"answers": ["softmax", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"attention_scores": 0.1}}
# %%
import sys
from cellcage.protocol.calls import Call

def attention_scores(Q, K):
    frame = sys._getframe()
    while frame is not None and "ask" not in frame.f_locals:
        frame = frame.f_back
    ask = frame.f_locals["ask"]
    for question in (Call("attention_scores", [Q, K]), Call("scaled_dot_product_attention", [Q, K, Q])):
        reply = ask(question)
        if hasattr(reply, "value"):
            return reply.value
    return None
