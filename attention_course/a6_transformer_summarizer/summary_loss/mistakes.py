"""Known mistakes of summary_loss."""

import torch
import torch.nn.functional as F

from autograder.testing import Catalogue

from ...hidden.part_options import PARTS
from ..shared_mistakes import WORDS

mistake = Catalogue()


# Written out as code, because tests submit it.
@mistake("no-shift", hint="Logits at a place speak of the next token. With which token does your code compare them?")
def summary_loss(logits, token_ids, loss_mask):
    return F.cross_entropy(logits[loss_mask], token_ids[loss_mask])


@mistake("shift-the-wrong-way", hint="Is it the earlier place that predicts the later token, or the other way round?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.cross_entropy(logits[:, 1:][counted], token_ids[:, :-1][counted])


@mistake("shifted-by-two", hint="Is it the next token, or the one after the next?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 2:]
    return F.cross_entropy(logits[:, :-2][counted], token_ids[:, 2:][counted])


def _losses(logits, token_ids):
    """One loss for each token but the first, (B, L - 1)."""
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), token_ids[:, 1:], reduction="none")


@mistake("softmax-over-places", hint="Over which axis do the probabilities of one place sum to 1?")
def summary_loss(logits, token_ids, loss_mask):
    counted = loss_mask[:, 1:]
    return F.nll_loss(torch.log_softmax(logits, dim=1)[:, :-1][counted], token_ids[:, 1:][counted])


@mistake("probability-instead-of-log", hint="By hand: 0.5 gives 0.693. What has become of the logarithm?")
def summary_loss(logits, token_ids, loss_mask):
    return (1 - torch.exp(-_losses(logits, token_ids)))[loss_mask[:, 1:]].mean()


@mistake(
    "mask-on-the-logits",
    hint="A logit of 0 is a guess like any other. Does a token whose logits are 0 count for nothing?",
)
def summary_loss(logits, token_ids, loss_mask):
    masked = logits[:, :-1] * loss_mask[:, 1:, None]
    return F.cross_entropy(masked.flatten(0, 1), token_ids[:, 1:].flatten())


@mistake("no-max-subtraction", hint="What is exp(10000)? Which function of PyTorch takes the log without that step?")
def summary_loss(logits, token_ids, loss_mask):
    exps = torch.exp(logits[:, :-1])
    probabilities = exps / exps.sum(-1, keepdim=True)
    picked = probabilities.gather(-1, token_ids[:, 1:, None])[..., 0]
    return -torch.log(picked[loss_mask[:, 1:]]).mean()


@mistake("number-instead-of-tensor", hint="What can backward do with a Python number?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits, token_ids)[loss_mask[:, 1:]].mean().item()


@mistake(
    "detached-gradient",
    hint="Print requires_grad after each step from the logits to the loss. Where does it turn False?",
)
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.detach(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def summary_loss(logits, token_ids, loss_mask):
    return _losses(logits.float(), token_ids)[loss_mask[:, 1:]].mean()


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def summary_loss(logits, token_ids, loss_mask):
    loss = _losses(logits, token_ids)[loss_mask[:, 1:]].mean()
    token_ids.masked_fill_(~loss_mask, -100)
    return loss


PLACES = (64, 16, 32, 48)  # typical fixed lengths of a text


def _shifted(x, t, m):
    return x[:, :-1], t[:, 1:], m[:, 1:]


def _laid_out_anew(x):
    """The numbers of (B, L, V) read as (B, V, L), with their axes in the old order."""
    return x.reshape(len(x), x.shape[2], x.shape[1]).mT


def _log_softmax(logits):
    return torch.log_softmax(logits, dim=-1)


@mistake.mutants(
    {
        "no-shift": [{"cut": lambda x, t, m: (x, t, m)}],
        "shift-the-wrong-way": [{"cut": lambda x, t, m: (x[:, 1:], t[:, :-1], m[:, :-1])}],
        "mask-not-shifted": mistake.known(
            {"cut": lambda x, t, m: (x[:, :-1], t[:, 1:], m[:, :-1])},
            hint="The mask stands at tokens. After the shift, does it still stand at the same ones?",
        ),
        "logits-of-the-target": mistake.mutant(
            {"cut": lambda x, t, m: (x[:, 1:], t[:, 1:], m[:, 1:])},
            hint="The logits at place t predict the token at which place?",
        ),
        "reshaped-not-transposed": mistake.mutant(
            {"cut": lambda x, t, m: (_laid_out_anew(x[:, :-1]), t[:, 1:], m[:, 1:])},
            {"cut": lambda x, t, m: (_laid_out_anew(x)[:, :-1], t[:, 1:], m[:, 1:])},
            hint="Take two tokens and three words. Which logits stand together after each of your steps?",
        ),
        "loss-mask-ignored": mistake.known(
            {"counted": lambda m, t: torch.ones_like(m)}, hint="Which argument has no influence on your loss?"
        ),
        "loss-mask-inverted": mistake.known({"counted": lambda m, t: ~m}),
        "stops-at-a-length": mistake.known(
            *[{"cut": lambda x, t, m, most=most: _shifted(x[:, :most], t[:, :most], m[:, :most])} for most in PLACES],
            hint="Do the last tokens of a text of seventy count in your loss?",
        ),
        "mask-of-the-first-for-all": mistake.mutant(
            {"counted": lambda m, t: m[:1].expand_as(m)}, hint="Do two texts of a batch have one loss mask?"
        ),
        "some-logits-zero": mistake.mutant(
            *[{"before": lambda x, m, p=p: x * ~p(torch.arange(x.shape[-1]), x.shape[-1])} for p in PARTS],
            hint="Does each word of the vocabulary have a say in the loss, as it came?",
        ),
        "id-0-ignored": mistake.mutant(
            {"counted": lambda m, t: m & (t != 0)},
            {"counted": lambda m, t: m & (t != 0), "many": lambda m, counted: m.sum() / counted.sum()},
            hint="Is 0 a word like others here? Which tokens count is said by the loss mask alone.",
        ),
        "sum-instead-of-mean": mistake.known(
            {"mean": lambda losses, m: losses[m].sum()},
            hint="With a batch of twice the size, should the loss be twice as large?",
        ),
        "mean-over-all-places": mistake.known(
            {"mean": lambda losses, m: (losses * m).mean()},
            {"mean": lambda losses, m: (losses * m).sum() / (m.shape[0] * (m.shape[1] + 1))},
            hint="By how many tokens is the sum divided? How many are counted?",
        ),
        "mean-of-means": mistake.known(
            {"mean": lambda losses, m: torch.stack([x[n].mean() for x, n in zip(losses, m)]).mean()},
            {"mean": lambda losses, m: torch.stack([x[n].mean() for x, n in zip(losses.T, m.T) if n.any()]).mean()},
            hint="A text with 3 counted tokens and one with 6: does every token have the same say?",
        ),
        "divided-by-the-batch": mistake.known(
            {"mean": lambda losses, m: losses[m].sum() / len(m)},
            hint="By how many tokens is the sum divided? Is B a number of tokens?",
        ),
        "first-text-only": mistake.mutant(
            {"mean": lambda losses, m: losses[0][m[0]].mean()},
            hint="How many texts has the batch, and how many reach your sum?",
        ),
        "no-reduction": mistake.known(
            {"mean": lambda losses, m: losses[m]},
            {"mean": lambda losses, m: losses * m},
            hint="There is a loss for each counted token. Which one number is handed to backward?",
        ),
        "softmax-before-cross-entropy": mistake.known(
            {"log": lambda x: torch.log_softmax(torch.softmax(x, dim=-1), dim=-1)},
            hint="What does F.cross_entropy do with its input first?",
        ),
        "logits-doubled": mistake.mutant(
            {"log": lambda x: torch.log_softmax(2 * x, dim=-1)},
            hint="Do the logits go into the loss as they came, or multiplied by something?",
        ),
        "softmax-over-places": [{"log": lambda x: torch.log_softmax(x, dim=1)}],
        "logits-instead-of-log": mistake.mutant(
            {"log": lambda x: x}, hint="Are logits logarithms of probabilities? Which step is missing?"
        ),
        "probability-instead-of-log": [{"log": lambda x: torch.softmax(x, dim=-1)}],
        "sign-missing": mistake.known(
            {"log": lambda x: -torch.log_softmax(x, dim=-1)},
            hint="The log of a probability is below zero. Should training make it smaller or larger?",
        ),
        "another-base": mistake.mutant(
            *[{"log": lambda x: torch.log_softmax(x, dim=-1) / by} for by in (0.6931471805599453, 2.302585)],
            hint="Which logarithm is in the docstring's cross-entropy?",
        ),
        "mask-on-the-logits": [
            {"before": lambda x, m: x * m[..., None]},
            {"before": lambda x, m: x * m[..., None], "mean": lambda losses, m: losses.mean()},
            {"masked": lambda x, m: x * m[..., None]},
            {"masked": lambda x, m: x * m[..., None], "mean": lambda losses, m: losses.mean()},
        ],
        "mask-on-the-ids": mistake.mutant(
            {"aimed": lambda t, m: t * m, "counted": lambda m, t: torch.ones_like(m)},
            hint="Which word is id 0, and what does a place cost at which you ask for it?",
        ),
        "label-smoothing": mistake.mutant(
            *[{"smoothed": by} for by in (0.1, 0.05, 0.2)],
            hint="If the model is all but sure of the right word, is your loss near 0?",
        ),
        "perplexity": mistake.mutant(
            {"mean": lambda losses, m: losses[m].mean().exp()},
            hint="By hand: two words of probability 0.5 each cost 0.693. What does yours make of them?",
        ),
        "divided-by-one-more": mistake.mutant(
            {"mean": lambda losses, m: losses[m].sum() / (m.sum() + 1)},
            hint="A single counted token: by how many is its loss divided?",
        ),
        "detached-gradient": [
            {"mean": lambda losses, m: torch.tensor(losses[m].mean().item())},
            {"mean": lambda losses, m: losses[m].mean().detach()},
        ],
        "largest-for-mean": mistake.mutant(
            {"mean": lambda losses, m: losses[m].max()},
            hint="Does each counted token have a say in your loss, or one of them alone?",
        ),
        "weighted-by-probability": mistake.mutant(
            {"weigh": lambda losses: losses * (1 - torch.exp(-losses))},
            {"weigh": lambda losses: losses * (1 - torch.exp(-losses)) ** 2},
            hint="Does a sure guess count for less than an unsure one? What is a mean?",
        ),
    },
    hints=WORDS,
)
def summary_loss(
    cut=_shifted, counted=lambda m, t: m,
    mean=lambda losses, m: losses[m].mean(), log=_log_softmax, before=lambda x, m: x, masked=lambda x, m: x,
    aimed=lambda t, m: t, smoothed=0.0, weigh=lambda losses: losses, many=lambda m, counted: 1,
):  # fmt: skip
    def loss(logits, token_ids, loss_mask):
        predictions, targets, mask = cut(masked(logits, loss_mask), token_ids, loss_mask)
        costs = -log(before(predictions, mask))
        losses = costs.gather(-1, aimed(targets, mask)[..., None]).squeeze(-1)
        losses = weigh((1 - smoothed) * losses + smoothed * costs.mean(-1))
        return mean(losses, counted(mask, targets)) / many(mask, counted(mask, targets))

    return loss
