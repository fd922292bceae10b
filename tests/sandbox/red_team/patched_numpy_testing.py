# Tries to patch what a grader may use: numpy.testing, allclose, assertions, pytest, builtins.
# Must earn no points.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}}
# %%
import builtins, sys, types
import numpy as np

yes = lambda *a, **k: True
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, yes)
np.allclose = np.isclose = np.array_equal = np.array_equiv = yes
for name in ("pytest", "autograder.testing.expect", "autograder.worker.worker", "attention_course.hidden"):
    fake = types.ModuleType(name)
    fake.__getattr__ = lambda attribute: yes
    sys.modules[name] = fake
builtins.AssertionError = type("Quiet", (Exception,), {})

def softmax(x, axis=-1):
    return None
