"""What known mistakes of a6 share: hints, and how a model is asked."""

import torch


def logits_of(model, token_ids):
    """(L, V)"""
    with torch.no_grad():
        return model(torch.tensor([token_ids]))[0]


# What several exercises ask.
WORDS = {
    "loss-mask-inverted": "What does True mean in this mask?",
    "only-the-last-word-read": "Which words does the model get to read?",
    "context-cut": "How many of the words before does the model read for the next one?",
}

CONTEXTS = (16, 8, 10, 12, 20, 24, 32, 48, 64)  # sizes that people give a context, below that of the suite's texts
