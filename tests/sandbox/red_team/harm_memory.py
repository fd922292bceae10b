# Tries to allocate endless memory.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "MemoryError"}
# %%
def softmax(x, axis=-1):
    held = []
    while True:
        held.append(bytearray(1100 * 2**20))
