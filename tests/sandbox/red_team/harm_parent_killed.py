# Tries to kill the process that forked it, which no signal from inside ends, and waits.
# Must cost the tests that met it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "wait for something"}
# %%
import os, signal, time
def softmax(x, axis=-1):
    try:
        os.kill(os.getppid(), signal.SIGKILL)
    except PermissionError:
        pass
    time.sleep(60)
