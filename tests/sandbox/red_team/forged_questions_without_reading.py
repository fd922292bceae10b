# Tries thousands of questions whose answers it never reads (aimed at the judge).
# Must end at the call's deadline; the judge never waits for a reader.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "seconds": 40}
# %%
import gc, sys

def own_socket():
    gc.unfreeze()  # what is frozen is not listed
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "_CallProcess").sock

from cellcage.protocol import calls, frames
import numpy as np

def softmax(x, axis=-1):
    sock = own_socket()
    question = frames.pack({"question": calls.Call("attention_scores", [np.ones((64, 64))]).as_bytes})
    sock.setblocking(True)
    while True:
        sock.sendall(question)
