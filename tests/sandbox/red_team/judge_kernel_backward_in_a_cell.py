# Tries a kernel of the backward pass, which checks no shapes, in a cell (aimed at the judge).
# Must be refused there; no kernel below the public functions is run on the trusted side.
# expect: {"printed": "True\n"}
# %%
import torch

a, big = torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 10**5)
try:
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(a, big, a, big, a, a, 0.0, False)
except RuntimeError as error:
    print("is answered for plain" in str(error))
