# Tries questions about blocks of gigabytes, after an earlier mistake in a module (aimed at the judge).
# Must always be refused quickly.
# expect: {"assignment": "a5_transformer_decoder", "answers": ["positional_encoding", "layer_norm", "feed_forward"], "at_most": {"DecoderBlock": 0.1, "TransformerDecoder": 0.1, "greedy_decode": 1, "generate": 1}, "seconds": 60}
# %%
import numpy as np
import torch
from torch import nn

class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()

    def forward(self, x, padding=None):
        return None

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length):
        super().__init__()
        n = 28_000
        for sizes in ((n, 1, n), (np.int64(n), 1, 1), (8, 1, np.array(n)), (512, 1, 2**40), (torch.tensor(n), 1, 8),
                      (8, n, 8), (8, 8, torch.tensor([n])), (-8, 1, n), (8, 0, 8), (8.5, 1, 8), ([n, n], 1, 8), (8, 8, [n] * 8)):
            try:
                DecoderBlock(*sizes)(torch.ones(1, 2, 8))
            except Exception:
                pass
        for shape in ((256, 256, 8), (1, 60_000, 8), (0, 2**40, 8), (1,) * 9, ()):
            try:
                DecoderBlock(8, 8, 8)(torch.ones(1).expand(shape))
            except Exception:
                pass

    def forward(self, ids, padding=None):
        return None
