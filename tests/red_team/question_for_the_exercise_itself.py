# Tries to ask for the very exercise under way, and for later ones.
# Must be refused.
# expect: {"answers": ["softmax", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"attention_scores": 0.1}}
# %%
import gc, sys

def attention_scores(Q, K):
    frame = sys._getframe()
    while frame is not None and "ask" not in frame.f_locals:
        frame = frame.f_back
    ask = frame.f_locals["ask"]
    for question in ({"name": "attention_scores", "args": [Q, K], "kwargs": {}},
                     {"name": "scaled_dot_product_attention", "args": [Q, K, Q], "kwargs": {}}):
        reply = ask(question)
        if "value" in reply:
            return reply["value"]
    return None
