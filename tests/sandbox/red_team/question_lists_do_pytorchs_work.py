# Tries to get PyTorch's exercise from NumPy's reference, with lists of numbers instead of arrays.
# Must earn no more than the student's own code does.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention"], "at_most": {"softmax": 0.1, "torch_scaled_dot_product_attention": 0.6}}
# %%
import numpy as np
import torch

def softmax(x, axis=-1):
    return None

def torch_scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.from_numpy(np.asarray(softmax(scores.detach().numpy().tolist())))
    return weights @ value, weights
