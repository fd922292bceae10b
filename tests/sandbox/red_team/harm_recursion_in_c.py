# Tries endless recursion with Python's own limit lifted.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": ""}
# %%
import ast, sys
def softmax(x, axis=-1):
    sys.setrecursionlimit(2**31 - 1)
    return softmax(softmax, axis) if not repr([x]) else ast.literal_eval('(' * 10**6)
