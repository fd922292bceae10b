# Tries errors and replies of forms that nobody agreed on.
# Must cost those tests, with a report all the same.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}}
# %%
import sys

def reply(names, request, *rest):
    replies = [{"error": 5}, {"error": {"kind": ["x"], "lines": [[1, 2, 3]] * 9}}, {"value": {1: {2: (3, None)}}},
               {"error": None, "value": 1}, {"inputs": 3, "gradients": "x", "shapes": [1]}, {}, {"value": "x" * 30_000}]
    return replies[int(request["args"][0].sum() * 1e6) % len(replies)]

sys.modules["autograder.sandbox.inside.server"].perform = reply
