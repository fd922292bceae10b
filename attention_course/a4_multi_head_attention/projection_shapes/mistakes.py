"""Known mistakes of projection_shapes."""

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("transposed", hint="X @ W_Q: which size of X must agree with which size of W_Q?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (qk, d_model), "W_K": (qk, d_model), "W_V": (v, d_model), "W_O": (d_model, v)}


@mistake("W_O-transposed", hint="Which size does the concatenation have, and which size should come out of W_O?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_model, v)}


@mistake("one-head-for-all", hint="Are these the matrices of one head or of all of them? Where does num_heads come in?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "W_V": (d_model, d_v), "W_O": (d_v, d_model)}


@mistake("W_O-for-one-head", hint="How wide are the heads once they stand side by side?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_v, d_model)}


@mistake("W_O-from-d_k", hint="What is it that gets concatenated: queries, keys, or blends of values?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (qk, d_model)}


@mistake("d_v-ignored", hint="Which of the four arguments has your code not used?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    wide = num_heads * d_k
    return {"W_Q": (d_model, wide), "W_K": (d_model, wide), "W_V": (d_model, wide), "W_O": (wide, d_model)}


@mistake("always-square", hint="In the paper h * d_k equals d_model. Does it in each row of the table?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    return dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d_model, d_model))


@mistake("W_O-square", hint="How wide are the heads side by side? Is that d_model in each row of the table?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, v), "W_O": (d_model, d_model)}


@mistake("heads-on-an-axis", hint="One matrix makes the queries of all heads at once. How many axes has it?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    q, v = (num_heads, d_model, d_k), (num_heads, d_model, d_v)
    return {"W_Q": q, "W_K": q, "W_V": v, "W_O": (num_heads * d_v, d_model)}


@mistake("lists-for-shapes", hint="What type has the shape of a NumPy array?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": [d_model, qk], "W_K": [d_model, qk], "W_V": [d_model, v], "W_O": [v, d_model]}


@mistake("W_V-from-d_k", hint="Which of the four arguments says how wide a value is?")
def projection_shapes(d_model, num_heads, d_k, d_v):
    qk, v = num_heads * d_k, num_heads * d_v
    return {"W_Q": (d_model, qk), "W_K": (d_model, qk), "W_V": (d_model, qk), "W_O": (v, d_model)}


_ALL = "X @ W_Q makes the queries of all heads at once. How many columns is that, and where does num_heads come in?"


@mistake("one-head-for-all-but-W_O", hint=_ALL)
def projection_shapes(d_model, num_heads, d_k, d_v):
    return {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "W_V": (d_model, d_v), "W_O": (num_heads * d_v, d_model)}


OTHER_KEYS = {
    "lower-case": lambda letter: f"W_{letter.lower()}",
    "no-line": lambda letter: f"W{letter}",
    "lower-case-no-line": lambda letter: f"w{letter.lower()}",
    "lower-case-all": lambda letter: f"w_{letter.lower()}",
    "of-a-layer": lambda letter: f"W_{letter}.weight",
    "letters": lambda letter: letter,
    "lower-case-letters": lambda letter: letter.lower(),
}


@mistake.mutants({
    "d_k-from-d_model": mistake.mutant(
        {"width": lambda d_model, h, d: d_model // h},
        {"width": lambda d_model, h, d: d_model // h, "for_one": True},
        {"width": lambda d_model, h, d: d_model / h},
        hint="Which arguments say how wide a query and a value are? Is d_model the heads' widths added up, in each row"
        " of the table?",
    ),
    "other-names": mistake.known(
        *({"key": key, "for_one": for_one} for for_one in (False, True) for key in OTHER_KEYS.values()),
        hint="Which names does the docstring give the four keys, letter by letter?",
    ),
})  # fmt: skip
def projection_shapes(key=lambda letter: f"W_{letter}", for_one=False, width=lambda d_model, h, d: d):
    """for_one: whether the shapes are those of one head, too"""

    def shapes(d_model, num_heads, d_k, d_v):
        heads = 1 if for_one else num_heads
        qk, v = (heads * width(d_model, num_heads, d) for d in (d_k, d_v))
        found = {"Q": (d_model, qk), "K": (d_model, qk), "V": (d_model, v), "O": (v, d_model)}
        return {key(letter): shape for letter, shape in found.items()}

    return shapes
