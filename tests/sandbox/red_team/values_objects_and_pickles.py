# Tries object arrays and objects that run code when they are unpickled or compared.
# Must earn no points, and run nothing outside the sandbox.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}}
# %%
import os
import numpy as np

class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/red-team-was-here",))
    def __eq__(self, other):
        return True
    def __array__(self, *a, **k):
        return np.ones((4, 5))
    __float__ = lambda self: 0.2

def softmax(x, axis=-1):
    return np.full(x.shape, Bomb(), dtype=object)
