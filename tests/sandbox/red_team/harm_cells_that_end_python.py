# Tries cells that exit, crash, stop their own process and loop.
# Must fail only those cells; definitions before and after them count. It can't send itself the signals
# that mean "killed from outside".
# expect: {"stopped": 2, "answers": "all", "seconds": 40}
# %%
import os
os._exit(3)

# %%
import ctypes
ctypes.string_at(0)

# %%
import sys
sys.exit(0)

# %%
import os, signal
os.kill(os.getpid(), signal.SIGKILL)

# %%
while True:
    pass
