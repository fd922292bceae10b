"""Known mistakes of translation_test."""

import numpy as np

from autograder.testing import Catalogue

mistake = Catalogue()


def _compared(L, shift, margin):
    """The rows i for which both i and i + shift lie inside the margins."""
    return np.arange(max(margin, margin - shift), min(L - margin, L - margin - shift))


SHARES = (0.8, 0.9, 0.95)  # of rows or numbers


def _near(one, other):
    return bool(np.allclose(one, other, atol=1e-6))


@mistake("always-true", hint="What would have to happen for your function to return False?")
def translation_test(layer, X, shift, margin):
    return bool(layer(X).shape == layer(np.roll(X, shift, axis=0)).shape)


@mistake("columns-roll-along", hint="Move a small X by 1 as you do it there. Where did the last number of row 0 go?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return _near(layer(X)[i], layer(np.roll(X, shift))[i + shift])


@mistake("only-to-the-right", hint="Work out by hand which rows you compare for a shift of -1.")
def translation_test(layer, X, shift, margin):
    L = len(X)
    before, after = layer(X), layer(np.roll(X, shift, axis=0))
    return _near(before[margin : L - margin - shift], after[margin + shift : L - margin])


@mistake("no-shift-breaks", hint="Which rows do you compare for a shift of 0? Print them.")
def translation_test(layer, X, shift, margin):
    before, after = layer(X), layer(np.roll(X, shift, axis=0))
    if shift > 0:
        before, after = before[:-shift], after[shift:]
    else:
        before, after = before[-shift:], after[:shift]
    end = len(before) - margin
    return _near(before[margin:end], after[margin:end])


@mistake("margin-0-compares-nothing", hint="Which rows do you compare for a margin of 0? Print them.")
def translation_test(layer, X, shift, margin):
    expected = np.roll(layer(X), shift, axis=0)
    got = layer(np.roll(X, shift, axis=0))
    inside = slice(margin, -margin)
    rows = np.arange(len(X))[inside]
    rows = rows[(rows - shift >= margin) & (rows - shift < len(X) - margin)] if margin else rows
    return _near(got[rows], expected[rows])


@mistake("one-row-only", hint="Could a layer be right at the row you look at, and wrong at others?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)[0]
    return _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift])


@mistake("means-compared", hint="Two outputs with the same mean: are they the same?")
def translation_test(layer, X, shift, margin):
    return _near(layer(X).mean(), layer(np.roll(X, shift, axis=0)).mean())


@mistake("shift-unused", hint="By how many rows do you move X?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), 1, margin)
    return _near(layer(X)[i], layer(np.roll(X, 1, axis=0))[i + 1])


@mistake("own-input", hint="Which rows does the layer get from you: those of X?")
def translation_test(layer, X, shift, margin):
    X = np.random.default_rng(0).normal(size=X.shape)
    i = _compared(len(X), shift, margin)
    return _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift])


@mistake("difference-not-verdict", hint="You know how far the outputs are apart. Is that True or False?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return float(np.abs(layer(X)[i] - layer(np.roll(X, shift, axis=0))[i + shift]).max())


@mistake("one-or-zero", hint="Which type has a comparison in Python?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    return 1 if _near(layer(X)[i], layer(np.roll(X, shift, axis=0))[i + shift]) else 0


@mistake("X-changed", hint="After the call, what does the caller's X hold?")
def translation_test(layer, X, shift, margin):
    i = _compared(len(X), shift, margin)
    before = layer(X)
    X[:] = np.roll(X, shift, axis=0)
    return _near(before[i], layer(X)[i + shift])


@mistake.mutants(
    {
        "borders-compared": mistake.known({"inside": 0}, hint="Which rows does the margin leave out?"),
        "border-on-one-side": mistake.known(
            {"ends": (1, 0)},
            {"ends": (0, 1)},
            hint="A text has two ends. Which rows does your margin leave out at the second one?",
        ),
        "border-of-one-output": mistake.known(
            {"pairs": "rows of the first"},
            {"pairs": "rows of the second"},
            hint="Row i lies inside the margins. Does row i + shift, too?",
        ),
        "what-came-in-compared": mistake.mutant(
            {"pairs": "round the end"},
            {"pairs": "round the beginning"},
            hint="Which rows of the moved X came in at the other end? Do you compare them?",
        ),
        "margin-grows-with-the-shift": mistake.mutant(
            {"inside": 2}, hint="Which is the first row that you leave out, and is it inside the margins?"
        ),
        "order-of-rows-lost": mistake.mutant(
            {"alike": lambda a, b: _near(np.sort(a, axis=0), np.sort(b, axis=0))},
            hint="Two outputs of the same rows in another order: are they the same?",
        ),
        "difference-with-a-sign": mistake.mutant(
            {"alike": lambda a, b: bool((a - b < 1e-6).all())},
            {"alike": lambda a, b: bool((b - a < 1e-6).all())},
            hint="Is -3 a difference, too? What does your comparison make of it?",
        ),
        "norms-compared": mistake.mutant(
            {"alike": lambda a, b: abs(np.linalg.norm(a) - np.linalg.norm(b)) < 1e-6},
            {"alike": lambda a, b: _near(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))},
            {"alike": lambda a, b: _near(np.abs(a).max(), np.abs(b).max())},
            hint="Two outputs that are equally large: are they the same?",
        ),
        "most-rows-enough": mistake.mutant(
            *({"alike": lambda a, b, share=share: np.isclose(a, b).all(axis=1).mean() >= share} for share in SHARES),
            *({"alike": lambda a, b, share=share: np.isclose(a, b).mean() >= share} for share in SHARES),
            hint="A layer that is off at a single row: does it treat all places alike?",
        ),
        "average-difference": mistake.mutant(
            *({"alike": lambda a, b, by=by: np.abs(a - b).mean() < by} for by in (1e-2, 0.05, 0.1, 0.5)),
            hint="A single row that is far off: how much of it is left in a mean?",
        ),
        "stops-at-a-length": mistake.known(
            *({"up_to": length} for length in (32, 64, 16)),
            hint="How many rows is your code made for? Try an X of a hundred.",
        ),
        "means-compared": [
            {"alike": lambda a, b: bool(abs((a - b).mean()) < 1e-6)},
            {"alike": lambda a, b: bool((abs((a - b).mean(axis=-1)) < 1e-6).all())},
        ],
        "not-close-enough": mistake.known(
            {"alike": lambda a, b: bool(np.allclose(a, b, atol=0.1))},
            hint="How large may a difference be that is only rounding?",
        ),
        "last-row-left-out": mistake.known(
            {"last": -1}, hint="Which is the last row that you compare, and which is the last one inside the margin?"
        ),
        "columns-moved": mistake.mutant(
            {"axis": 1}, hint="Which axis of X counts the rows, and along which one does X move in yours?"
        ),
        "columns-roll-along": [{"flat": rows} for rows in ("inside", "up to the margins", "all")],
        "margin-0-compares-nothing": [{"pairs": "a slice"}, {"pairs": "a slice moved back"}],
        "rows-lost": mistake.known(
            {"fill": "zeros"}, hint="A layer that looks at all rows: does it see the same rows after your shift?"
        ),
        "shifted-the-wrong-way": mistake.known(
            {"way": -1}, hint="Row i of X stands at which row of the moved X: i + shift or i - shift?"
        ),
        "input-not-moved": mistake.known({"way": 0}, hint="Which input does the layer get the second time?"),
        "output-not-moved": mistake.known(
            {"back": 0}, hint="The input has moved. At which row should the same numbers be in the second output?"
        ),
        "output-moved-the-wrong-way": mistake.mutant(
            {"back": -1}, hint="Row i of the first output: at which row of the second is it found again?"
        ),
        "to-the-last-bit": mistake.known(
            {"alike": np.array_equal}, hint="Are two floating numbers equal when they differ in the sixteenth digit?"
        ),
        "one-column-only": mistake.known(
            {"columns": 1}, hint="Could a layer be right in the column you look at, and wrong in others?"
        ),
        "any-for-all": mistake.known(
            {"alike": lambda a, b: bool(np.isclose(a, b, rtol=1e-6, atol=1e-6).any())},
            {"alike": lambda a, b: any(_near(x, y) for x, y in zip(a, b, strict=True))},
            hint="Is it enough that some numbers are equal?",
        ),
        "answer-turned-round": mistake.mutant(
            {"alike": lambda a, b: not _near(a, b)}, hint="For which of the two does your function say True?"
        ),
    }
)
def translation_test(
    up_to=None, inside=1, ends=(1, 1), fill="roll", way=1, back=1, alike=_near, columns=None, pairs="inside", last=None,
    flat=None, axis=0,
):  # fmt: skip
    def translation_test(layer, X, shift, margin):
        L = len(X)
        if flat:
            one, other = np.roll(layer(X), shift), layer(np.roll(X, shift))
            rows = {"inside": _compared(L, shift, margin) + shift, "up to the margins": slice(margin, L - margin)}
            return _near(one[rows.get(flat, ...)], other[rows.get(flat, ...)])
        if pairs.startswith("a slice"):
            one, other = np.roll(layer(X), shift, axis=0), layer(np.roll(X, shift, axis=0))
            by = -shift if pairs == "a slice moved back" else 0
            return _near(*(np.roll(output, by, axis=0)[margin:-margin] for output in (one, other)))
        moved = np.roll(X, way * shift, axis=axis)
        if fill == "zeros":
            moved = np.zeros_like(X)
            for i in range(L):
                if 0 <= i + way * shift < L:
                    moved[i + way * shift] = X[i]
        margin = margin + abs(shift) if inside == 2 else inside * margin
        low, high = margin * ends[0], L - margin * ends[1]
        i = np.arange(low, high)
        if pairs in ("inside", "rows of the first"):
            j, edge = i + back * shift, (low, high) if pairs == "inside" else (0, L)
            i = i[(j >= edge[0]) & (j < edge[1])]
        elif pairs == "rows of the second":
            i = i[(i - back * shift >= 0) & (i - back * shift < L)] - back * shift
        elif pairs == "round the end":
            i = (i - back * shift) % L
        i = i[:last]
        i = i[i < up_to] if up_to else i
        return bool(alike(layer(X)[i, :columns], layer(moved)[(i + back * shift) % L, :columns]))

    return translation_test
