"""What the visible tests of a6 share. Students may read this file; its numbers are those of the notebook."""

from autograder.testing import expect


def batch(token_ids):
    """The ids, if they are a batch of texts: every model takes (B, L)."""
    if token_ids.ndim != 2:
        raise ValueError(f"a model takes a batch of texts, (B, L); these ids have shape {tuple(token_ids.shape)}")
    return token_ids


def counting(vocabulary=10, sure=5.0):
    """The notebook's own example of a model: after token i comes token i + 1; after 9, the last one, comes 0."""
    import torch.nn as nn  # here, since what needs no model is checked without PyTorch
    import torch.nn.functional as F

    class Counting(nn.Module):
        def forward(self, token_ids):
            return sure * F.one_hot((batch(token_ids) + 1) % vocabulary, vocabulary).float()

        def __repr__(self):
            return "counting"

    return Counting()


def adding():
    """A model that hangs on every token: what comes next is the last digit of their sum. All its logits are low.

    After a large token it is surer than after a small one.
    """
    import torch.nn as nn
    import torch.nn.functional as F

    class Adding(nn.Module):
        def forward(self, token_ids):
            sure = 5.0 + batch(token_ids).unsqueeze(-1)
            return sure * F.one_hot(token_ids.cumsum(dim=1) % 10, 10).float() - 1000.0

        def __repr__(self):
            return "adding"

    return Adding()


ADDING = "says the last digit of the sum of all it has read, with logits around -1000"


def unchanged(now, then, name):
    """The list `name` holds what it held before the call."""
    if list(now) != then:
        expect.fail(f"{name} is `{now}` after the call, and was `{then}` before.")
