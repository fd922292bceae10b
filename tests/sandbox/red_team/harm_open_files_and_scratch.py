# Tries to use up open files and scratch space.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "None"}
# %%
def softmax(x, axis=-1):
    held = []
    try:
        while True:
            held.append(open(f"/tmp/{len(held)}", "wb"))
            held[-1].write(bytes(2**20))
    except OSError:
        pass
    return None
