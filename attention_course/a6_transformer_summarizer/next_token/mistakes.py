"""Known mistakes of next_token."""

import torch

from autograder.suites import Catalogue

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


@mistake.recipe(
    {
        "first-position": [{"place": lambda x: x[0]}],
        # A model that reads from left to right says the same there as after a text without its last word.
        "last-but-one-position": [{"place": lambda x: x[max(-2, -len(x))]}],
        "mean-over-positions": [{"place": lambda x: x.mean(0)}],
        "surest-position": [{"place": lambda x: x[x.max(-1).values.argmax()]}],
        "argmax-over-everything": [{"place": lambda x: x.reshape(-1)}],
        "least-likely": [{"pick": lambda x: x.argmin()}],
        "size-instead-of-sign": [{"pick": lambda x: x.abs().argmax()}],
        "maximum-instead-of-its-place": [{"pick": lambda x: x.max()}],
        "second-likeliest": [{"pick": lambda x: x.argsort()[-2]}],
        "only-the-last-word-read": [{"read": lambda ids: ids[-1:]}],
        "context-cut": [{"read": lambda ids, most=most: ids[-most:]} for most in CONTEXTS],
        "read-backwards": [{"read": lambda ids: ids[::-1]}],
    },
    hints=WORDS | {
        "second-likeliest": "Sort the logits of one place: which one do you take?",
        "maximum-instead-of-its-place": "Is the result an id, or a logit?",
        "first-position": "The logits at place 0 have read one word. Which place has read them all?",
        "argmax-over-everything": "Without an axis, argmax counts through all places. What number comes out then?",
        "surest-position": "The model may be surest about a word that stands there already. Which place is asked for?",
        "mean-over-positions": "Which places speak of a word that stands in the text already?",
        "least-likely": "Has the likeliest word the largest logit or the smallest?",
        "size-instead-of-sign": "Is a word with a logit of -5 likelier than one with 3?",
        "read-backwards": "In which order does the model read?",
    },
    held=(
        "first-position", "argmax-over-everything", "surest-position", "mean-over-positions", "least-likely",
        "size-instead-of-sign", "only-the-last-word-read", "read-backwards",
    ),
)  # fmt: skip
def next_token(place=lambda x: x[-1], pick=lambda x: x.argmax(), read=lambda ids: ids):
    return lambda model, token_ids: int(pick(place(model(torch.tensor([read(list(token_ids))]))[0])))
