# Tries to write to, close and pass on every descriptor (aimed at the students' fork server).
# Must harm only its own process.
# expect: {"answers": "all", "stopped": 1, "at_most": {"softmax": 1, "attention_scores": 1, "scaled_dot_product_attention": 1, "torch_scaled_dot_product_attention": 1}}
# %%
import os, socket

for number in range(256):
    for what in (lambda: os.write(number, b"\x00\x00\x00\x04\x81\xa2op\xa5close" * 100), lambda: os.read(number, 0),
                 lambda: socket.send_fds(socket.socket(fileno=os.dup(number)), [b"x"], [0, 1, 2]), lambda: os.close(number)):
        try:
            what()
        except OSError:
            pass
