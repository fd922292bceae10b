# Tries a cell of 0.6 MB of short statements (aimed at the notebook process).
# Must fail only that cell.
# expect: {"answers": "all", "stopped_at_most": 1}
# %%
# repeat 100000: x = 1;
