# Tries results whose length, array, iteration, class and pickling misbehave (aimed at the exercise process).
# Must fail only the tests that meet them.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "seconds": 60}
# %%
import itertools
import numpy as np

class Odd:
    def __len__(self): return -1
    def __array__(self, *a, **k): raise SystemExit
    def __reduce__(self): return eval, ("1/0",)
    def __iter__(self): return itertools.count()
    def __eq__(self, other): return True
    __class__ = property(lambda self: np.ndarray)
    shape = property(lambda self: (1 for _ in itertools.count()))

class OddArray(np.ndarray):
    dtype = property(lambda self: 1 / 0)
    def tobytes(self, *a): return b"x" * 10**9
    def __array_finalize__(self, obj): pass

class OddTuple(tuple):
    def __iter__(self): return itertools.count()
    def __len__(self): return 10**9

class OddDict(dict):
    def items(self): return ((i, i) for i in itertools.count())

class OddText(str):
    def __getitem__(self, key): return self * 10**6

loop = []
loop.append(loop)
FORMS = [Odd(), np.ones(3).view(OddArray), OddTuple((1, 2)), OddDict(a=1), OddText("x"), loop, np.array([Odd()], dtype=object), np.zeros(3, "V10"),
         np.broadcast_to(np.ones(1), (2**40,)), np.zeros(3, [("a", "f8")]), np.ma.masked_all(3), np.array("NaT", "M8[s]"), 10**4000, 1j, iter([]), Odd]
calls = []

def softmax(x, axis=-1):
    calls.append(1)
    return FORMS[len(calls) % len(FORMS)]
