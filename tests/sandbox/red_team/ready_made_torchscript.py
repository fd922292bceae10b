# Tries the function from TorchScript, where Python doesn't see the call.
# Must earn no points, and the message must say why.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}, "says": "ready-made"}
# %%
import torch
attend = torch.jit.CompilationUnit('''
def attend(q: Tensor, k: Tensor, v: Tensor):
    return torch._C._nn.scaled_dot_product_attention(q, k, v, None, 0.0, False)
'''.replace("torch._C._nn.", "aten::") if False else '''
def attend(q: Tensor, k: Tensor, v: Tensor):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
''').attend
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return attend(query, key, value), weights
