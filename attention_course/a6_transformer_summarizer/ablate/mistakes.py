"""Known mistakes of ablate."""

import torch

from autograder.testing import Catalogue

from ..shared_mistakes import WORDS

mistake = Catalogue()


def _name(layer):
    return f"blocks.{layer}.attention.W_O.weight"


def _with(weights, layer, change):
    """The weights, in which `W_O` of that layer is changed by a function."""
    W_O = weights[_name(layer)].clone()
    change(W_O)
    return weights | {_name(layer): W_O}


@mistake(
    "rows-instead-of-columns", hint="nn.Linear keeps its matrix transposed. Does a row meet one head, or all of them?"
)
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[head * d : (head + 1) * d].zero_())


@mistake(
    "one-column-of-the-head", hint="How many numbers has each head found for a word, and how many columns do they meet?"
)
def ablate(weights, layer, head, num_heads):
    return _with(weights, layer, lambda W_O: W_O[:, head].zero_())


@mistake("from-the-head-on", hint="Where do this head's columns end?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d :].zero_())


@mistake("all-others-switched-off", hint="Is it this head that falls silent, or everybody else?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    kept = torch.zeros(num_heads * d)
    kept[head * d : (head + 1) * d] = 1
    return _with(weights, layer, lambda W_O: W_O.mul_(kept))


@mistake("whole-layer-switched-off", hint="Who else speaks through this matrix?")
def ablate(weights, layer, head, num_heads):
    return _with(weights, layer, lambda W_O: W_O.zero_())


@mistake("every-layer", hint="In how many layers does a head of that number stand, and which one is asked for?")
def ablate(weights, layer, head, num_heads):
    for number in range(sum(name.endswith("W_O.weight") for name in weights)):
        d = weights[_name(number)].shape[1] // num_heads
        weights = _with(weights, number, lambda W_O, d=d: W_O[:, head * d : (head + 1) * d].zero_())
    return weights


@mistake("first-layer-always", hint="Which argument has no influence on your result?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(0)].shape[1] // num_heads
    return _with(weights, 0, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())


@mistake("width-from-d-model", hint="Which axis of W_O.weight do the heads share: d_model, or the other one?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[0] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())


@mistake("the-original-changed", hint="A new dict may hold the old tensors. Whose numbers are set to zero?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    weights = dict(weights)
    weights[_name(layer)][:, head * d : (head + 1) * d] = 0
    return weights


@mistake("only-one-matrix-given-back", hint="What does a model do without its other numbers?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    changed = _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].zero_())
    return {_name(layer): changed[_name(layer)]}


@mistake("turned-round-and-not-back", hint="Which shape has W_O.weight when it comes in, and when it goes out?")
def ablate(weights, layer, head, num_heads):
    rows = weights[_name(layer)].T.clone()
    d = len(rows) // num_heads
    rows[head * d : (head + 1) * d] = 0
    return weights | {_name(layer): rows}


@mistake("values-switched-off", hint="A head without values is silent, too. But which matrix does the text name?")
def ablate(weights, layer, head, num_heads):
    name = _name(layer).replace("W_O", "W_V")
    d = len(weights[name]) // num_heads
    W_V = weights[name].clone()
    W_V[head * d : (head + 1) * d] = 0
    return weights | {name: W_V}


@mistake("others-made-louder", hint="Are the numbers of the other heads as they were?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    louder = num_heads / max(1, num_heads - 1)
    return _with(weights, layer, lambda W_O: W_O.mul_(louder)[:, head * d : (head + 1) * d].zero_())


@mistake("average-in-place-of-zero", hint="What does a head say through columns that are all alike but not zero?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    return _with(weights, layer, lambda W_O: W_O[:, head * d : (head + 1) * d].fill_(W_O.mean()))


@mistake("float32-always", hint="Print the dtype after each line for a float64 input. Where does float32 begin?")
def ablate(weights, layer, head, num_heads):
    d = weights[_name(layer)].shape[1] // num_heads
    W_O = weights[_name(layer)].float()
    W_O = W_O.clone()
    W_O[:, head * d : (head + 1) * d] = 0
    return weights | {_name(layer): W_O}


@mistake.mutants(
    {
        "rows-instead-of-columns": mistake.mutant(
            {"rows": True}, hint="nn.Linear keeps its matrix transposed. Does a row meet one head, or all of them?"
        ),
        "heads-counted-from-1": mistake.known({"shift": -1}, hint="Where do the columns of head 0 begin?"),
        "some-heads-only": mistake.known(
            *[{"numbered": lambda layer, head, most=most: (layer, min(head, most - 1))} for most in (3, 4)],
            hint="Of eight heads, which one does your code silence if head is 7?",
        ),
        "layers-cut": mistake.known(
            *[{"numbered": lambda layer, head, most=most: (min(layer, most - 1), head)} for most in (3, 6)],
            hint="Of four layers, in which one does your code silence a head if layer is 3?",
        ),
        "next-head": mistake.mutant({"shift": 1}, hint="Where do the columns of head 0 begin?"),
        "another-matrix": mistake.mutant(
            *[{"matrix": name, "rows": rows} for name in ("W_Q", "W_K", "W_V") for rows in (False, True)],
            hint="Which matrix brings a head's values back to the width of the model?",
        ),
        "layers-counted-from-1": mistake.mutant({"layer_shift": -1}, hint="Which layer has the name blocks.0?"),
        "others-made-louder": [{"value": lambda W: W * 2}],
        "average-in-place-of-zero": [{"value": lambda W: 0 * W + W.mean()}],
        "heads-interleaved": mistake.known(
            {"strided": True}, hint="Are a head's columns neighbours, or every h-th one?"
        ),
        "matrix-without-its-name": mistake.mutant(
            {"back": lambda weights, name: weights[name]},
            hint="One matrix comes back. What does the docstring return, and what else is in it?",
        ),
        "set-to-one": mistake.mutant(
            {"value": lambda W: 0 * W + 1}, hint="By what must a number be multiplied to have no effect?"
        ),
    },
    hints=WORDS,
)
def ablate(
    rows=False, shift=0, matrix="W_O", layer_shift=0, value=lambda W: 0 * W, strided=False,
    numbered=lambda layer, head: (layer, head), back=lambda weights, name: weights,
):  # fmt: skip
    def silent(weights, layer, head, num_heads):
        layer, head = numbered(layer, head)
        name = f"blocks.{layer + layer_shift}.attention.{matrix}.weight"
        W = weights[name].clone()
        d = W.shape[0 if rows else 1] // num_heads
        cut = slice(head, None, num_heads) if strided else slice((head + shift) * d, (head + shift + 1) * d)
        if rows:
            W[cut] = value(W[cut])
        else:
            W[:, cut] = value(W[:, cut])
        return back({**weights, name: W}, name)

    return silent
