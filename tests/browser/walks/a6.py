"""A walk through a6: (exercise, what is written into its cell, what the first thing shown must say)."""

WALK = [
    (
        "training_example",
        "    ids = article_ids + [separator_id] + summary_ids\n"
        "    return ids, [False] * (len(article_ids) + 1) + [True] * len(summary_ids)",
        r"\[11, 12, 13, 1, 14, 15\], wanted \[11, 12, 13, 1, 14, 15, 2\]",
    ),
    (
        "training_example",
        "    ids = article_ids + [separator_id] + summary_ids + [end_id]\n"
        "    return ids, [0] * (len(article_ids) + 1) + [1] * (len(summary_ids) + 1)",
        "loss_mask holds a value of type int, not True and False",
    ),
    (
        "summary_loss",
        "    return F.cross_entropy(logits[loss_mask], token_ids[loss_mask])",
        "Known mistake: no shift or logits of the target",
    ),
    (
        "summary_loss",
        "    return F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())",
        "Known mistake: loss mask ignored",
    ),
    ("next_token", "    return model(token_ids)[0, -1].argmax().item()", "RuntimeError.*In next_token, line 2"),
    (
        "next_token",
        "    return model(torch.tensor([token_ids]))[0, -1].argmax()",
        r"a tensor of shape \(\), not an int",
    ),
    (
        "greedy_summary",
        "    ids = article_ids + [separator_id]\n    for _ in range(max_new_tokens):\n"
        "        ids.append(next_token(model, ids))\n        if ids[-1] == end_id:\n            break\n"
        "    return ids[len(article_ids) + 1 :]",
        r"came out as \[6, 7, 8, 9\], wanted \[6, 7, 8\]",
    ),
    (
        "ablate",
        "    W_O = weights[f'blocks.{layer}.attention.W_O.weight'].clone()\n    d = W_O.shape[1] // num_heads\n"
        "    W_O[head * d : (head + 1) * d] = 0\n"
        "    return {**weights, f'blocks.{layer}.attention.W_O.weight': W_O}",
        "Known mistake: rows instead of columns",
    ),
    (
        "ablate",
        "    W_O = weights[f'blocks.{layer}.attention.W_O.weight']\n    d = W_O.shape[1] // num_heads\n"
        "    W_O[:, head * d : (head + 1) * d] = 0\n    return weights",
        "Known mistake: the original changed",
    ),
    (
        "ablate",
        "    W_O = weights[f'block.{layer}.attention.W_O.weight'].clone()\n    return W_O",
        "KeyError.*In ablate, line 2",
    ),
    (
        "next_word_probabilities",
        "    return torch.softmax(logits * temperature, dim=-1)",
        "At temperature 0.5, how many times as likely is it",
    ),
    (
        "next_word_probabilities",
        "    return torch.softmax(logits / temperature, dim=-1)",
        "What do the two that are left sum to",
    ),
    (
        "cross_attention",
        "    def split(t): return t.unflatten(-1, (num_heads, -1)).transpose(-3, -2)\n"
        "    query, key, value = split(x @ W_Q), split(x @ W_K), split(x @ W_V)\n"
        "    weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), dim=-1)\n"
        "    return (weights @ value).transpose(-3, -2).flatten(-2) @ W_O, weights",
        r"shape \(1, 2, 2\)",
    ),
]
