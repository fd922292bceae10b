# Tries to report from a cell that the sandbox could not be set up, with its own text (aimed at the worker).
# Must not be believed after the first cell has run; its text must not appear anywhere.
# expect: {"answers": "all", "never": "SECRET"}
# %%
import sys

frames = sys.modules["cellcage.inside.notebook_process"].frames
send = frames.send

def forged(sock, message, deadline=None):
    if hasattr(message, "printed"):
        message = {"broken": ["MachineError", "SECRET words to the instructor"], "ready": True}
    return send(sock, message, deadline)

frames.send = forged
