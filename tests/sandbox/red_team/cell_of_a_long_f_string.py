# Tries an f-string of 300 kB (aimed at the notebook process).
# Must fail only that cell.
# expect: {"answers": "all", "stopped_at_most": 1}
# %%
x = 1
y = f"""
# repeat 100000: {x}
"""
