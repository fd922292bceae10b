# Tries cells that exit, crash, stop their own process and loop.
# Must cost those cells; what was defined before and after counts. It may not send itself the signals by
# which others end it.
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
