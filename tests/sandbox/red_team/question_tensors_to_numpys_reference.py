# Tries to skip NumPy's exercises and pass tensors to their references, which can also reshape tensors.
# Must earn no more than the student's own code does.
# expect: {"assignment": "a3_heads", "answers": ["per_head_weights"], "at_most": {"split_heads": 0.1, "concat_heads": 0.1, "torch_split_heads": 0.1, "torch_concat_heads": 0.1}}
# %%
def split_heads(X, num_heads):
    return None

def concat_heads(heads):
    return None

def torch_split_heads(x, num_heads):
    return split_heads(x, num_heads)

def torch_concat_heads(heads):
    return concat_heads(heads)
