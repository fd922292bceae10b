# Tries a subclass of ndarray that equals everything and claims any shape.
# Must earn only what its numbers earn: zeros of the right shape.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.05}}
# %%
import numpy as np

class Liar(np.ndarray):
    shape = property(lambda self: (4, 5))
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __array__ = lambda self, *a, **k: np.ones((4, 5)) / 5
    __array_ufunc__ = lambda self, *a, **k: True
    __array_function__ = lambda self, *a, **k: True

def softmax(x, axis=-1):
    return np.zeros(x.shape).view(Liar)
