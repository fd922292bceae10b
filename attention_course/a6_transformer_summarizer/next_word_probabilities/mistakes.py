"""Known mistakes of next_word_probabilities."""

import torch
import torch.nn.functional as F

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("cut-before-the-temperature", hint="Which comes first, the temperature or top_p? Does it change what adds up?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    order = logits.argsort(descending=True)
    plain = torch.softmax(logits[order], -1)[:top_k]
    plain = plain / plain.sum()
    kept = torch.softmax(logits[order] / temperature, -1)[:top_k]
    if top_p is not None:
        kept = torch.where(plain.cumsum(0) - plain < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


@mistake("cut-off-with-zero", hint="What is e to the power of 0? Is that what a word gets that is cut off?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    left = torch.zeros_like(scaled)
    left[order[:top_k]] = scaled[order[:top_k]]
    kept = torch.softmax(left[order], -1)
    if top_p is not None:
        within = kept.cumsum(0) - kept < top_p
        kept = torch.softmax(torch.where(within, left[order], torch.zeros_like(kept)), -1)
    result = torch.zeros_like(logits)
    result[order] = kept
    return result


def _zero_beyond_k(logits, temperature=1.0, top_k=None, top_p=None):
    """Words beyond top_k get the logit 0; top_p is right."""
    scaled = logits / temperature
    if top_k is not None:
        scaled = torch.where(scaled < torch.topk(scaled, top_k).values[-1], torch.zeros_like(scaled), scaled)
    shares = torch.softmax(scaled, -1)
    if top_p is not None:
        order = shares.argsort(descending=True)
        kept = shares[order]
        shares = torch.zeros_like(kept).scatter(0, order, torch.where(kept.cumsum(0) - kept < top_p, kept, 0))
    return shares / shares.sum()


@mistake.mutants({"cut-off-with-zero": [{"code": _zero_beyond_k}]})
def next_word_probabilities(code):
    return code


@mistake("the-likeliest-alone", hint="Are these probabilities to draw from, or is one word chosen already?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    return F.one_hot(logits.argmax(), len(logits)).to(logits.dtype)


@mistake("least-likely-kept", hint="Which words stay with top_k? In which order does your code sort them?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    likely = torch.softmax(scaled, -1)
    if top_k is not None:
        stay = torch.zeros_like(likely)
        stay[likely.argsort()[:top_k]] = 1
        likely = likely * stay / (likely * stay).sum()
    if top_p is not None:
        order = likely.argsort(descending=True)
        sums = likely[order].cumsum(0) - likely[order]
        result = torch.zeros_like(likely)
        result[order] = torch.where(sums < top_p, likely[order], torch.zeros_like(sums))
        likely = result / result.sum()
    return likely


@mistake("logarithms", hint="Can a probability be negative?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    kept = torch.softmax(scaled[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result.clamp(min=1e-9).log()


@mistake("logits-changed", hint="After the call, what do the caller's logits hold?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    logits /= temperature
    order = logits.argsort(descending=True)
    kept = torch.softmax(logits[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    order = scaled.argsort(descending=True)
    kept = torch.softmax(scaled[order], -1)[:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros(len(logits))
    result[order[: len(kept)]] = (kept / kept.sum()).float()
    return result


@mistake(
    "overflowing", hint="What is e to the power of 10,000? What may be taken off all logits without changing anything?"
)
def next_word_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    exps = (logits / temperature).exp()
    order = logits.argsort(descending=True)
    kept = (exps / exps.sum())[order][:top_k]
    kept = kept / kept.sum()
    if top_p is not None:
        kept = torch.where(kept.cumsum(0) - kept < top_p, kept, torch.zeros_like(kept))
    result = torch.zeros_like(logits)
    result[order[: len(kept)]] = kept / kept.sum()
    return result


@mistake.mutants(
    {
        "temperature-multiplied": mistake.known(
            {"heat": lambda logits, T: logits * T},
            hint="Which temperature makes a model surer, 0.5 or 2? Which one does so in yours?",
        ),
        # Probabilities divided by a temperature, and then by their sum, are as before. Nobody could tell the two apart.
        "temperature-without-effect": mistake.known(
            {"heat": lambda logits, T: logits},
            hint="Which line uses the temperature, what does it change there, and does a later line undo that?",
        ),
        "probabilities-divided": mistake.known(
            {"heat": lambda logits, T: torch.softmax(logits, -1) / T},
            hint="Is it the logits that the temperature divides, or what the softmax gives?",
        ),
        "logits-scaled": mistake.mutant(
            *[{"heat": lambda logits, T, by=by: by * logits / T} for by in (2, 0.5, 10)],
            hint="With temperature 1, do the logits go into the softmax as they came?",
        ),
        "least-likely-kept": mistake.known(
            {"first_the_likeliest": False}, hint="With top_k 3, which words are left in yours: the three likeliest?"
        ),
        "left-in-sorted-order": mistake.known(
            {"back": False}, hint="Which word does the first number of your result belong to?"
        ),
        "not-shared-out-again": mistake.known(
            {"shared": False}, hint="Once some words are cut off, what do the others sum to?"
        ),
        "words-cut": mistake.known(
            *[{"most": lambda k, n=n: min(k or n, n)} for n in (50, 20, 40, 64, 100)],
            hint="Of 300 words, how many have a probability above zero in yours, if nothing is to be cut off?",
        ),
        "temperature-after-softmax": mistake.known(
            {"heat": lambda logits, T: logits, "cool": lambda shares, T: shares / T},
            {"heat": lambda logits, T: logits, "cool": lambda shares, T: torch.softmax(shares / T, -1)},
            {"heat": lambda logits, T: logits, "among": False, "spread": lambda shares, T: shares / T},
            hint="Is it logits or probabilities that your temperature divides? What do those sum to then?",
        ),
        "top-k-ignored": mistake.known({"most": lambda k: None}, hint="What changes in your result when top_k does?"),
        "one-word-more-than-k": mistake.known(
            {"most": lambda k: None if k is None else k + 1},
            hint="With top_k 1, how many words have a probability above zero in yours?",
        ),
        "one-word-less-than-k": mistake.mutant(
            {"most": lambda k: None if k is None else max(1, k - 1)},
            hint="With top_k 3, how many words have a probability above zero in yours?",
        ),
        "top-p-ignored": mistake.known(
            {"within": lambda kept, p: torch.ones_like(kept, dtype=torch.bool)},
            hint="What changes in your result when top_p does?",
        ),
        "one-word-too-few": mistake.known(
            {"within": lambda kept, p: (kept.cumsum(0) < p) | (kept == kept[0])},
            {"within": lambda kept, p: kept.cumsum(0) < p},
            hint="With the word at which you stop, is top_p reached? And without it?",
        ),
        "one-word-too-many": mistake.known(
            {"within": lambda kept, p: torch.arange(len(kept)) < (kept.cumsum(0) < p).sum() + 2},
            {"within": lambda kept, p: kept.cumsum(0) - kept <= p},
            hint="At which word is top_p reached, and how many come after it in yours?",
        ),
        "each-word-against-top-p": mistake.known(
            {"within": lambda kept, p: (kept >= 1 - p) | (kept == kept[0])},
            {"within": lambda kept, p: (kept >= p) | (kept == kept[0])},
            {"within": lambda kept, p: (kept <= p) | (kept == kept[0])},
            hint="Is it each word alone that has to reach top_p, or all of them together?",
        ),
        "top-p-of-all-words": mistake.known(
            {"among": False}, hint="Is top_p a share of all words, or of those that top_k has left?"
        ),
        "cut-in-another-order": mistake.mutant(
            {"cut": "what top_k has left"},
            {"cut": "all"},
            hint="You know how many of the sorted words are left. Which words of logits are they?",
        ),
        "not-sorted": mistake.mutant(
            {"ordered": False}, hint="Which words come first in yours: the likeliest, or those with the smallest ids?"
        ),
        "order-not-undone": mistake.mutant(
            {"back": "turned"}, hint="Take three words, the last the likeliest. Which number stands last in yours?"
        ),
    }
)
def next_word_probabilities(
    heat=lambda logits, T: logits / T,
    first_the_likeliest=True,
    most=lambda k: k,
    among=True,
    within=lambda kept, p: kept.cumsum(0) - kept < p,
    shared=True,
    back=True,
    cut="",
    ordered=True,
    cool=lambda shares, T: shares,
    spread=lambda shares, T: shares,
):
    def probabilities(logits, temperature=1.0, top_k=None, top_p=None):
        scaled = heat(logits, temperature)
        order = scaled.argsort(descending=first_the_likeliest) if ordered else torch.arange(len(scaled))
        everything = spread(torch.softmax(scaled[order], -1), temperature)
        kept = everything[: most(top_k)]
        inside = torch.ones_like(kept, dtype=torch.bool)
        if top_p is not None:
            inside = within(kept / kept.sum() if among else kept, top_p)
        if cut:
            # The remaining words are ranks, but used as ids: among those that top_k leaves, or among all.
            by_id = F.pad(inside, (0, len(logits) - len(kept)))[order]
            kept = kept * by_id[: len(kept)] if cut == "what top_k has left" and top_p is not None else (
                kept if cut == "what top_k has left" else everything * by_id
            )  # fmt: skip
        else:
            kept = torch.where(inside, kept, torch.zeros_like(kept))
        kept = kept / kept.sum() if shared else kept
        if back == "turned":
            return F.pad(kept, (0, len(logits) - len(kept)))[order]
        result = torch.zeros_like(logits)
        result[order[: len(kept)] if back else slice(0, len(kept))] = kept
        return cool(result, temperature)

    return probabilities
