# Tries frames that announce 4 GB and go on as long as somebody reads (aimed at the judge).
# Must be refused because of their length, before anything is read.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "says": "size limit"}
# %%
import gc, sys

def own_socket():
    gc.unfreeze()  # what is frozen is not listed
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "_CallProcess").sock

def softmax(x, axis=-1):
    sock = own_socket()
    sock.sendall(b"\xff\xff\xff\xff")
    while True:
        sock.sendall(bytes(2**20))
