# Tries exception classes with misleading names (aimed at the judge).
# The message must use a name from a short list.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "never": "SECRET"}
# %%
import sys

class ValueError(BaseException):
    pass

class NotImplementedError(Exception):
    pass

Odd = type("SECRET\x1b[2J<b>" + "x" * 10_000, (KeyError, OSError), {})
calls = []

def softmax(x, axis=-1):
    calls.append(1)
    raise (ValueError, Odd, GeneratorExit, ExceptionGroup("group", [Odd()]))[len(calls) % 4] if len(calls) % 4 < 3 else ExceptionGroup("g", [Odd()])
