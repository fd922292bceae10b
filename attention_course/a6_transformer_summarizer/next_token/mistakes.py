"""Known mistakes of next_token."""

import torch

from autograder.testing import Catalogue

from ..shared_mistakes import CONTEXTS, WORDS, logits_of

mistake = Catalogue()


@mistake("middle-position", hint="At which place has the model read the whole text?")
def next_token(model, token_ids):
    return int(logits_of(model, token_ids)[len(token_ids) // 2].argmax())


@mistake(
    "last-but-one-position",
    hint="Your answer is what the model says before it has read the last word. Where does that word get lost?",
)
def next_token(model, token_ids):
    return int(logits_of(model, token_ids)[-2].argmax())


@mistake("argmax-over-positions", hint="Is the largest logit looked for among words, or among places?")
def next_token(model, token_ids):
    return int(logits_of(model, token_ids).argmax(dim=0)[-1])


@mistake("tensor-instead-of-int", hint="How do you get the number out of a tensor that holds one?")
def next_token(model, token_ids):
    return logits_of(model, token_ids)[-1].argmax()


@mistake("text-changed", hint="Print token_ids before and after the call. Which of your lines makes that list longer?")
def next_token(model, token_ids):
    token = int(logits_of(model, token_ids)[-1].argmax())
    token_ids.append(token)
    return token


@mistake(
    "probabilities-rounded", hint="What is exp(-400) in numbers of 32 bits, and what is the largest of many zeros?"
)
def next_token(model, token_ids):
    return int(torch.exp(logits_of(model, token_ids)[-1].float()).argmax())


@mistake.mutants(
    {
        "first-position": mistake.known(
            {"place": lambda x: x[0]},
            hint="Your logits have read one word. Which place has read all? Which axis of the ids is the batch?",
        ),
        # A model that reads from left to right gives the same there as for the text without its last word.
        "last-but-one-position": [{"place": lambda x: x[max(-2, -len(x))]}],
        "mean-over-positions": mistake.known(
            {"place": lambda x: x.mean(0)}, hint="Which places speak of a word that stands in the text already?"
        ),
        "surest-position": mistake.known(
            {"place": lambda x: x[x.max(-1).values.argmax()]},
            {"place": lambda x: x.max(0).values},
            hint="The model may be surest about a word that stands there already. Which place is asked for?",
        ),
        "argmax-over-everything": mistake.known(
            {"place": lambda x: x.reshape(-1)},
            hint="Without an axis, argmax counts through all places. What number comes out then?",
        ),
        "least-likely": mistake.known(
            {"pick": lambda x: x.argmin()}, hint="Has the likeliest word the largest logit or the smallest?"
        ),
        "size-instead-of-sign": mistake.known(
            {"pick": lambda x: x.abs().argmax()}, hint="Is a word with a logit of -5 likelier than one with 3?"
        ),
        "maximum-instead-of-its-place": mistake.mutant(
            {"pick": lambda x: x.max()}, hint="Is the result an id, or a logit?"
        ),
        "second-likeliest": mistake.mutant(
            {"pick": lambda x: x.argsort()[-2]}, hint="Sort the logits of one place: which one do you take?"
        ),
        "only-the-last-word-read": mistake.known({"read": lambda ids: ids[-1:]}),
        "context-cut": [{"read": lambda ids, most=most: ids[-most:]} for most in CONTEXTS],
        "read-backwards": mistake.known({"read": lambda ids: ids[::-1]}, hint="In which order does the model read?"),
    },
    hints=WORDS,
)
def next_token(place=lambda x: x[-1], pick=lambda x: x.argmax(), read=lambda ids: ids):
    return lambda model, token_ids: int(pick(place(model(torch.tensor([read(list(token_ids))]))[0])))
