# Tries the function in another thread, where modes are not in force.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import threading
import torch
import torch.nn.functional as F
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    found = []
    attend = lambda: found.append(F.scaled_dot_product_attention(query, key, value))
    thread = threading.Thread(target=attend)
    thread.start()
    thread.join()
    return found[0], weights
