# Tries to kill its parent process, and waits.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "wait for something"}
# %%
import os, signal, time
def softmax(x, axis=-1):
    try:
        os.kill(os.getppid(), signal.SIGKILL)
    except PermissionError:
        pass
    time.sleep(60)
