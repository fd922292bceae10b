# Tries the function in a child process that hands the numbers back through a pipe.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import io, os
import torch
import torch.nn.functional as F
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    read, write = os.pipe()
    if os.fork() == 0:
        stream = io.BytesIO()
        torch.save(F.scaled_dot_product_attention(query.detach(), key.detach(), value.detach()), stream)
        os.write(write, stream.getvalue())
        os._exit(0)
    os.close(write)
    os.wait()
    with os.fdopen(read, "rb") as pipe:
        output = torch.load(io.BytesIO(pipe.read()))
    return output, weights
