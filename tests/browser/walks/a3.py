"""A walk through a3: (exercise, what is written into its cell, what the first thing shown must say)."""

WALK = [
    (
        "split_heads",
        "    *batch, L, d_model = X.shape\n    return X.reshape(*batch, num_heads, L, d_model // num_heads)",
        "Known mistake: split without transpose",
    ),
    ("split_heads", "    return np.split(X, num_heads, axis=-1)", "a list of 2 values, not a NumPy array"),
    (
        "split_heads",
        "    L, d_model = X.shape\n    return X.reshape(L, num_heads, d_model // num_heads).swapaxes(0, 1)",
        "too many values to unpack.*line 2.*Count axes from the end",
    ),
    (
        "concat_heads",
        "    *batch, h, L, d = heads.shape\n    return heads.reshape(*batch, L, h * d)",
        "Known mistake: concat without transpose",
    ),
    ("per_head_weights", "    return np.split(W, num_heads, axis=-1)", "Can the heads' weights be made into one array"),
    (
        "per_head_weights",
        "    return W.reshape(num_heads, W.shape[0], -1)",
        "Known mistake: split without transpose",
    ),
    (
        "torch_split_heads",
        "    *batch, L, d_model = x.shape\n    return x.reshape(*batch, L, num_heads, -1).transpose(-3, -2)",
        "should raise ValueError",
    ),
    (
        "torch_split_heads",
        "    return torch.from_numpy(split_heads(x.detach().numpy(), num_heads))",
        "no gradient reaches x",
    ),
    (
        "torch_concat_heads",
        "    *batch, h, L, d = heads.shape\n    return heads.transpose(-3, -2).view(*batch, L, h * d)",
        r"view size is not compatible.*Use \.reshape.*line 3",
    ),
]
