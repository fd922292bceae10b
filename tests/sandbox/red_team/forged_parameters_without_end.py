# Tries a module with three thousand parameters of long names (aimed at the judge).
# Must fail only that exercise, with a short message.
# expect: {"assignment": "a4_multi_head_attention", "at_most": {"MultiHeadAttention": 0.1}, "never": "p{2500}", "seconds": 60}
# %%
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_head=None):
        super().__init__()
        for i in range(3_000):
            self.register_parameter("p" * 300 + str(i), nn.Parameter(torch.ones(1)))

    def forward(self, x, mask=None):
        return x, x
