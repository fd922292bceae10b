# Tries to print 20 MB, more than the limit, with a forged reply of a cell.
# Must be cut by the trusted side.
# expect: {"answers": "all"}
# %%
import gc

gc.unfreeze()  # what is frozen is not listed
for thing in gc.get_objects():
    if type(thing).__name__ == "Bounded":
        thing.getvalue = lambda: "x" * (20 * 2**20)
