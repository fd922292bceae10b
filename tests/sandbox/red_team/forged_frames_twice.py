# Tries every answer twice (aimed at the judge).
# Must be judged like any other answers.
# expect: {"answers": "all", "at_most": {"softmax": 0.6, "attention_scores": 0.6, "scaled_dot_product_attention": 0.6, "torch_scaled_dot_product_attention": 0.6}}
# %%
import sys

frames = sys.modules["cellcage.inside.notebook_process"].frames
honest = frames.framed
frames.framed = lambda body: honest(body) * 2
