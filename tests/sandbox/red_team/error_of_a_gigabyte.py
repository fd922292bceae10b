# Tries an exception whose text is a gigabyte (aimed at the exercise process).
# Must fail only the tests that meet it.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 1, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}, "seconds": 45}
# %%
raised = []

def softmax(x, axis=-1):
    raised.append(1)
    raise ValueError("x" * (10**9 if len(raised) == 1 else 10))
