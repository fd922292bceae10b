# Tries sys.exit, os._exit, a segmentation fault and endless recursion, one in each exercise.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": [], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "says": {"softmax": "SystemExit", "attention_scores": "ended", "scaled_dot_product_attention": "ended", "torch_scaled_dot_product_attention": "RecursionError"}}
# %%
import ctypes, os, sys

def softmax(x, axis=-1):
    sys.exit(0)

def attention_scores(Q, K):
    os._exit(0)

def scaled_dot_product_attention(Q, K, V):
    return ctypes.string_at(0)

def torch_scaled_dot_product_attention(query, key, value):
    return torch_scaled_dot_product_attention(query, key, value)
