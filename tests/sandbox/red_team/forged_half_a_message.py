# Tries half a message, then silence.
# Must fail only that call, and take no longer than its deadline.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "seconds": 30}
# %%
import os, stat, time

def softmax(x, axis=-1):
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, b"\x00\x00\x01\x00abc")
        except OSError:
            pass
    time.sleep(1000)
