# Tries a forged word on parameters, with what was passed in (aimed at the judge).
# Must show no more than two digits of it.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "never": "number -?(0?\\.0*[1-9]\\d\\d|[1-9]\\d*\\.\\d\\d)"}
# %%
import sys
from cellcage.protocol import calls

def forged(names, call, *rest):
    return calls.Failure(calls.Kind.NO_PARAMETER, f"number {float(call.args[0].ravel()[0])!r}", "AttributeError")

sys.modules["cellcage.inside.notebook_process"].perform = forged
