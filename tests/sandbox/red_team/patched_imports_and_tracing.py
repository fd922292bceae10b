# Tries import hooks, profilers, tracers, deleted modules, and a recursion limit that is too low.
# Must not change marks of other exercises.
# expect: {"answers": ["softmax", "attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"]}
# %%
import builtins, sys, threading

class Finder:
    def find_spec(self, name, path=None, target=None):
        raise ImportError("no imports today")

sys.meta_path.insert(0, Finder())
sys.setprofile(lambda *a: None)
sys.settrace(lambda *a: None)
for name in ("json", "msgpack", "cellcage.calling.perform", "cellcage.inside.notebook_process"):
    sys.modules.pop(name, None)
