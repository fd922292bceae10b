# Tries lines of a traceback that stand in no cell, with the input in them (aimed at the judge).
# Must be left out.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "never": "SECRET"}
# %%
import sys
from cellcage.protocol import calls

def forged(names, call, *rest):
    value = repr(call.args[0])[:100]
    line = calls.Line("softmax", 3, "SECRET " + value)
    return calls.Failure(calls.Kind.RAISED, "", "SECRET", (line, calls.Line("SECRET" + value, 1, "import sys"), calls.Line("softmax", 10**6, "import sys")))

sys.modules["cellcage.inside.notebook_process"].perform = forged
