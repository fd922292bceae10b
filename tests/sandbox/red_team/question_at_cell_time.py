# Tries to ask the reference while cells run, through any socket it finds.
# Must not be answered; only that cell fails.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0.1}, "stopped": 1}
# %%
import os, socket, stat
import numpy as np
from cellcage.protocol import calls, frames

def softmax(x, axis=-1):
    return None

for number in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            own = socket.socket(fileno=os.dup(number))
            frames.send(own, {"question": calls.Call("softmax", [np.ones((2, 3))]).as_bytes})
            print(calls.answer_of(frames.receive(own)["answer"]))
            frames.send(own, {"question": {"name": "softmax"}})
            print(frames.receive(own))
    except OSError:
        pass
