# Tries a loop that ignores signals and swallows every exception.
# Must fail only the tests that meet it, with a message that says what happened.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.0}, "says": "loop"}
# %%
import signal
def softmax(x, axis=-1):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
