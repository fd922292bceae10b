# Tries a notebook process that never forks, again and again (aimed at the judge's time).
# Must end when the submission's time is up, with a report.
# expect: {"answers": "all", "at_most": {"softmax": 1, "attention_scores": 1, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}, "seconds": 80}
# %%
import time, sys

kit = sys.modules["cellcage.inside.notebook_process"]
kit._State._begin_calls = lambda *a: time.sleep(1000)
