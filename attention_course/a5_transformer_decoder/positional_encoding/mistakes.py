"""Known mistakes of positional_encoding."""

import math

import numpy as np

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("exponent-up-to-1", hint="The exponent is 2i / d_model. Does the last pair reach 1?")
def positional_encoding(length, d_model):
    column = np.arange(d_model)
    angles = np.arange(length)[:, None] / 10000 ** ((column // 2) / max(1, (d_model + 1) // 2 - 1))
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


# Written out as code, because tests submit it.
@mistake("base-1000", hint="Count the zeros of the number in the formula.")
def positional_encoding(length, d_model):
    angles = np.arange(length)[:, None] / 1000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


@mistake("fails-for-odd-widths", hint="With d_model = 7 there are four sines. How many cosines have a place?")
def positional_encoding(length, d_model):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    encoding = np.zeros((length, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


@mistake("last-column-of-odd-widths-empty", hint="With d_model = 7, what should stand in the last column?")
def positional_encoding(length, d_model):
    pairs = d_model // 2
    angles = np.arange(length)[:, None] / 10000 ** (2 * np.arange(pairs) / d_model)
    encoding = np.zeros((length, d_model))
    for i in range(pairs):
        encoding[:, 2 * i], encoding[:, 2 * i + 1] = np.sin(angles[:, i]), np.cos(angles[:, i])
    return encoding


TABLES = (64, 16, 32, 128, 256, 8, 4)  # typical fixed sizes of a table


def _pairs(column, d_model):
    return 2 * (column // 2) / d_model


@mistake.mutants(
    {
        "sine-and-cosine-swapped": mistake.known(
            {"order": "swapped"}, hint="At position 0, what should stand in column 0: the sine of 0 or its cosine?"
        ),
        "sines-and-cosines-concatenated": mistake.known(
            {"order": "concatenated"},
            hint="In which columns do the cosines stand: every second one, or all at the end?",
        ),
        "sines-only": mistake.known({"order": "sines"}, hint="What stands in the odd columns?"),
        "cosines-only": mistake.mutant({"order": "cosines"}, hint="What stands in the even columns?"),
        "a-wave-length-for-each-column": mistake.known(
            {"exponent": lambda column, d: column / d},
            hint="In the formula, does the cosine of a pair have another angle than its sine?",
        ),
        "exponent-without-the-2": mistake.known(
            {"exponent": lambda column, d: column // 2 / d},
            hint="The second pair of d_model = 4: what is 2i / d_model there, and what is yours?",
        ),
        "exponent-doubled": mistake.known(
            {"exponent": lambda column, d: 4 * (column // 2) / d},
            {"exponent": lambda column, d: 2 * column / d},
            hint="Which number is i for column 2: is it 2, or the number of the pair?",
        ),
        "exponent-up-to-1": [
            {"exponent": lambda column, d: 2 * (column // 2) / max(d - 2, 1)},
            {"exponent": lambda column, d: 2 * (column // 2) / max(d - 1, 1)},
            {"exponent": lambda column, d: column / max(d - 1, 1)},
        ],
        "exponent-off-by-one": mistake.mutant(
            {"exponent": lambda column, d: 2 * ((column + 1) // 2) / d},
            {"exponent": lambda column, d: 2 * (column // 2 + 1) / d},
            hint="Columns 0 and 1 are a pair. Which exponent has each of them in yours?",
        ),
        "exponent-rounded-down": mistake.mutant(
            {"exponent": lambda column, d: 2 * (column // 2) // d}, hint="What is 2 // 6 in Python, and what is 2 / 6?"
        ),
        "positions-from-1": mistake.known(
            {"first": 1}, hint="Which position has the first word, and what is the sine of that?"
        ),
        "positions-shifted": mistake.mutant(
            *[{"first": first} for first in (2, -1, 3, 10)],
            hint="Which position has the first word, and what is the sine of that?",
        ),
        "base-1000": [{"base": 1000}],
        # Base 100 is the exponent without the 2.
        "another-base": mistake.mutant(
            *[{"base": base} for base in (10, 1e5, 1e6, math.e, 2)],
            hint="Which number is raised to a power in the formula, and which one in yours?",
        ),
        "multiplied-by-the-power": mistake.known(
            {"sign": 1}, hint="Is the position divided by the power of 10000, or multiplied by it?"
        ),
        "position-by-length": mistake.known(
            {"place": lambda at, length: at / length},
            {"place": lambda at, length: at / max(length - 1, 1)},
            hint="Does the angle of position 1 depend on how long the text is?",
        ),
        "positions-backwards": mistake.mutant(
            {"place": lambda at, length: at[::-1]}, hint="Which row of your table is that of position 0?"
        ),
        "turns-for-angles": mistake.mutant(
            {"unit": 2 * math.pi}, hint="By how much does the angle in column 0 grow from one position to the next?"
        ),
        "degrees-for-angles": mistake.mutant(
            {"unit": math.pi / 180}, hint="By how much does the angle in column 0 grow from one position to the next?"
        ),
        "power-of-the-whole": mistake.mutant(
            {"whole": True}, hint="What is raised to the power: 10000 alone, or the position, too?"
        ),
        "angles-of-whole-numbers": mistake.mutant(
            {"rounded": np.floor}, {"rounded": np.round}, hint="What is 3 / 4 in yours, as an angle?"
        ),
        "exponent-by-length": mistake.mutant(
            {"width": lambda length, d: length}, hint="By what is the number of the column divided in the exponent?"
        ),
        "cosine-of-the-sine": mistake.mutant(
            {"order": "twice"}, hint="Of what is the cosine taken in yours: of the angle?"
        ),
        "even-positions-get-sines": mistake.known(
            {"order": "by position"}, hint="Is it the number of the row or of the column that says sine or cosine?"
        ),
        "positions-cut": mistake.known(
            *[{"place": lambda at, length, most=most: at % most} for most in TABLES],
            *[{"place": lambda at, length, most=most: np.minimum(at, most - 1)} for most in TABLES],
            *[{"end": lambda rows, most=most: rows * (np.arange(len(rows)) < most)[:, None]} for most in TABLES],
            hint="From which position on do rows repeat, or stay the same? Where does that number come from?",
        ),
        "rows-missing": mistake.known(
            {"end": lambda encoding: encoding[: max(1, len(encoding) - 1)]},
            {"end": lambda encoding: encoding[1:] if len(encoding) > 1 else encoding},
            hint="How many rows has your table for length = 7?",
        ),
        "columns-missing": mistake.known(
            {"end": lambda encoding: encoding[:, : max(1, encoding.shape[1] - 1)]},
            {"end": lambda encoding: encoding[:, : max(1, 2 * (encoding.shape[1] // 2))]},
            hint="How many columns has your table for d_model = 12, and for d_model = 7?",
        ),
        "transposed": mistake.mutant(
            {"end": np.transpose}, hint="Which axis does the docstring name first: positions, or columns?"
        ),
    },
    [
        ("", {}),
        *((f"an odd width raises an {raises.__name__}.", {"raises": raises}) for raises in (IndexError, ValueError)),
    ],
)
def positional_encoding(
    order="right", exponent=_pairs, first=0, base=10000, sign=-1, place=lambda at, length: at, unit=1.0, whole=False,
    end=lambda encoding: encoding,
    width=lambda length, d: d, rounded=lambda angles: angles,
    raises=None,
):  # fmt: skip
    def encode(length, d_model):
        if raises and d_model % 2:
            raise raises("no place for the last cosine")
        column = np.arange(d_model)
        position = place(np.arange(length), length)[:, None] + first
        angles = unit * position * float(base) ** (sign * exponent(column, width(length, d_model)))
        angles = rounded(angles)
        if whole:
            angles = (position / base) ** exponent(column, d_model)
        if order == "concatenated":
            return end(np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=1))
        if order == "twice":
            return end(np.where(column % 2 == 0, np.sin(angles), np.cos(np.sin(angles))))
        if order == "by position":
            return end(np.where(np.arange(length)[:, None] % 2 == 0, np.sin(angles), np.cos(angles)))
        if order in ("sines", "cosines"):
            return end(np.sin(angles) if order == "sines" else np.cos(angles))
        return end(np.where(column % 2 == (order == "swapped"), np.sin(angles), np.cos(angles)))

    return encode
