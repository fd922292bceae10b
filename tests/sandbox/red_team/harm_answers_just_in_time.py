# Tries to answer every call just before its deadline (aimed at the worker).
# Must end when the submission's time is up.
# expect: {"answers": [], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "seconds": 45}
# %%
def softmax(*args):
    import time
    time.sleep(1.0)


def attention_scores(*args):
    import time
    time.sleep(1.0)


def scaled_dot_product_attention(*args):
    import time
    time.sleep(1.0)


def torch_scaled_dot_product_attention(*args):
    import time
    time.sleep(1.0)
