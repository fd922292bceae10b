# Tries exceptions whose `str` loops, grows, raises or ends Python (aimed at the exercise process).
# Must fail only the tests that meet it.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "seconds": 60}
# %%
import os

class Loops(Exception):
    def __str__(self):
        while True:
            pass

class Raises(Exception):
    def __str__(self):
        raise SystemExit

class Ends(Exception):
    def __str__(self):
        os._exit(0)

class Lies(Exception):
    def __str__(self):
        return 5

calls = []

def softmax(x, axis=-1):
    calls.append(1)
    raise (Raises, Lies, Ends, Loops)[len(calls) % 4]()
