# Tries endless recursion.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "RecursionError"}
# %%
def softmax(x, axis=-1):
    return softmax(x, axis)
