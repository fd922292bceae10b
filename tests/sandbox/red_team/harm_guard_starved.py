# Tries to starve the processes above it by setting limits.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": ""}
# %%
import os, resource
def softmax(x, axis=-1):
    for pid in (1, os.getppid()):
        try:
            resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0))
        except OSError:
            pass
    return None
