# Tries to leave NumPy's exercises and hand tensors on to their references, which reshape tensors, too.
# Must earn nothing that the student's own code does not.
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
