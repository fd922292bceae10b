"""Known mistakes of rotate."""

import numpy as np

from autograder.testing import Catalogue

from ..shared_mistakes import HALF, in_half, limited, right_speeds, right_turn, rotation, side_by_side, woven

mistake = Catalogue()


def _in_halves(x):
    return np.split(x, 2, axis=-1)


def _behind(first, second):
    return np.concatenate([first, second], axis=-1)


# Written out as code, because tests submit it.
@mistake("pairs-in-halves", hint="Which column is turned together with column 0: its neighbour, or one far away?")
def rotate(x, positions, base=10000.0):
    return rotation(pairs=_in_halves, joined=_behind)(x, positions, base)


@mistake("written-over-too-soon", hint="The second number of a pair needs the first: the new one, or the old one?")
def rotate(x, positions, base=10000.0):
    def turn(first, second, cos, sin):
        first = first * cos - second * sin
        return first, first * sin + second * cos

    return rotation(turn=turn)(x, positions, base)


@mistake("added-not-turned", hint="Is the position added to the vector, or is the vector turned by it?")
def rotate(x, positions, base=10000.0):
    return rotation(turn=lambda a, b, cos, sin: (a + cos, b + sin))(x, positions, base)


@mistake("scaled-by-cosines", hint="Each new number comes from both numbers of its pair. From how many does yours?")
def rotate(x, positions, base=10000.0):
    return rotation(turn=lambda a, b, cos, sin: (a * cos, b * sin))(x, positions, base)


@mistake("a-speed-for-each-column", hint="Do the two numbers of a pair turn by one angle, or by two?")
def rotate(x, positions, base=10000.0):
    angle = positions[:, None] * base ** (-np.arange(x.shape[-1]) / x.shape[-1])
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = side_by_side(x)
    return woven(first * cos[:, 0::2] - second * sin[:, 0::2], first * sin[:, 1::2] + second * cos[:, 1::2])


@mistake("base-1000", hint="Count the zeros of the base in the first line of the stub.")
def rotate(x, positions, base=1000.0):
    return rotation()(x, positions, base)


@mistake("heads-for-words", hint="Which axis of x holds the words when there is a batch in front? Count from the end.")
def rotate(x, positions, base=10000.0):
    angles = positions[: x.shape[0]].reshape(-1, *[1] * (x.ndim - 1)) * right_speeds(x, base)
    turned = right_turn(*side_by_side(x), np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype))
    return woven(*turned)


@mistake("float64-always", hint="Print the dtype after each line for a float32 input. Where does float64 begin?")
def rotate(x, positions, base=10000.0):
    angles = positions[:, None] * right_speeds(x, base)
    return woven(*right_turn(*side_by_side(x), np.cos(angles), np.sin(angles)))


@mistake("in-place", hint="Print the arguments before and after the call. Which of your lines writes into one?")
def rotate(x, positions, base=10000.0):
    x[...] = rotation()(x, positions, base)
    return x


def _angles_of_other_pairs(halves):
    """`rotate` with neighbours as pairs and the angles of halves, or the reverse."""

    def rotate(x, positions, base=10000.0):
        angles = positions[:, None] * right_speeds(x, base)
        angles = np.repeat(angles, 2, axis=-1) if halves else np.tile(angles, 2)
        (first, second), joined = (_in_halves(x), _behind) if halves else (side_by_side(x), woven)
        return (x * np.cos(angles) + joined(-second, first) * np.sin(angles)).astype(x.dtype)

    return rotate


def _added(x, positions, base=10000.0):
    angles = positions[:, None] * right_speeds(x, base)
    return (x + woven(np.sin(angles), np.cos(angles))).astype(x.dtype)


def _half_turned(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    return np.concatenate([rotation()(x[..., :half], positions, base), x[..., half:]], axis=-1)


@mistake.mutants(
    {
        "angles-of-other-pairs": mistake.mutant(
            {"code": _angles_of_other_pairs(True)},
            {"code": _angles_of_other_pairs(False)},
            hint="Do the two numbers of a pair turn by one angle, or by two?",
        ),
        "added-not-turned": [{"code": _added}],
        "half-precision": mistake.mutant(*in_half(rotation()), hint=HALF),
        "half-of-the-width-turned": mistake.mutant(
            {"code": _half_turned}, hint="How many pairs has a vector of width 8, and how many of them does yours turn?"
        ),
    }
)
def rotate(code):
    return code


TURNS = {
    "turned-backwards": mistake.known(
        {"turn": lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)},
        hint="Where does (1, 0) go at position 1: to (cos, sin), or to (cos, -sin)?",
    ),
    "mirrored": mistake.known(
        {"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)},
        {"turn": lambda a, b, cos, sin: (b * sin - a * cos, a * sin + b * cos)},
        hint="Of the four entries of the matrix, which one has a minus? What does (0, 1) become at 0?",
    ),
    "no-minus": mistake.known(
        {"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)},
        hint="Of the four entries of the matrix, which one has a minus? Does a vector keep its length?",
    ),
    "two-minuses": mistake.mutant(
        {"turn": lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)},
        hint="Of the four entries of the matrix, which one has a minus?",
    ),
    "sine-and-cosine-swapped": mistake.known(
        {"turn": lambda a, b, cos, sin: right_turn(a, b, sin, cos)},
        hint="At position 0 nothing is turned. What does yours make of (1, 0) there?",
    ),
    "first-of-a-pair-unturned": mistake.mutant(
        {"turn": lambda a, b, cos, sin: (a, a * sin + b * cos)},
        hint="How many numbers of a pair change when it is turned?",
    ),
    "second-of-a-pair-unturned": mistake.known(
        {"turn": lambda a, b, cos, sin: (a * cos - b * sin, b)},
        hint="How many numbers of a pair change when it is turned?",
    ),
    "pair-swapped": mistake.mutant(
        {"turn": lambda a, b, cos, sin: right_turn(a, b, cos, sin)[::-1]},
        hint="At position 0 nothing is turned. What does yours make of (1, 0) there?",
    ),
}
SPEEDS = {
    "one-speed-for-all": mistake.known(
        {"speeds": lambda x, base: np.ones(x.shape[-1] // 2)},
        hint="How fast does the second pair turn: like the first?",
    ),
    "exponent-without-the-2": mistake.known(
        {"speeds": lambda x, base: base ** (-np.arange(x.shape[-1] // 2) / x.shape[-1])},
        hint="The second pair of d = 4: what is 2i / d there, and what is yours?",
    ),
    "exponent-doubled": mistake.mutant(
        {"speeds": lambda x, base: base ** (-2 * np.arange(0, x.shape[-1], 2) / x.shape[-1])},
        hint="Which number is i for columns 2 and 3: is it 2, or the number of the pair?",
    ),
    "exponent-up-to-1": mistake.mutant(
        {"speeds": lambda x, base: base ** -np.linspace(0, 1, x.shape[-1] // 2)},
        hint="The exponent is 2i / d. Does the last pair reach 1?",
    ),
    "exponent-of-the-wrong-sign": mistake.known(
        {"speeds": lambda x, base: 1 / right_speeds(x, base)},
        hint="Does the second pair turn faster than the first, or slower?",
    ),
    "slowest-pair-first": mistake.known(
        {"speeds": lambda x, base: right_speeds(x, base)[::-1]},
        hint="Which pair turns by the position itself: the first or the last?",
    ),
    "speeds-from-the-second": mistake.mutant(
        {"speeds": lambda x, base: base ** (-(np.arange(0, x.shape[-1], 2) + 2) / x.shape[-1])},
        hint="How fast is the first pair: what is base to the power of 0?",
    ),
    "exponent-not-divided": mistake.mutant(
        {"speeds": lambda x, base: base ** -np.arange(0.0, x.shape[-1], 2)},
        {"speeds": lambda x, base: base ** -np.arange(0.0, x.shape[-1] // 2)},
        hint="By what is 2i divided in the exponent? How fast is the last pair of d = 8?",
    ),
    "floor-division": mistake.mutant(
        {"speeds": lambda x, base: base ** (-np.arange(0, x.shape[-1], 2) // x.shape[-1])},
        {"angle": lambda positions, speed: np.floor(positions[:, None] * speed)},
        {"angle": lambda positions, speed: positions[:, None] // (1 / speed)},
        hint="What is 2 / 8 in Python, and what is 2 // 8? Print your angles.",
    ),
    "base-ignored": mistake.known(
        {"chosen": lambda base: 10000.0}, hint="A caller may give another base. Does yours listen?"
    ),
}
PAIRS = {
    "pairs-in-halves": [{"pairs": _in_halves, "joined": _behind}],
    "put-together-in-halves": mistake.known(
        {"joined": _behind}, hint="The pairs are turned. In which columns should the two numbers of a pair stand?"
    ),
    "taken-apart-in-halves": mistake.mutant(
        {"pairs": _in_halves}, hint="Which column is turned together with column 0: its neighbour, or one far away?"
    ),
}


def _at_most(limit):
    return lambda positions, speed: np.minimum(positions, limit - 1)[:, None] * speed


def _in_a_circle(limit):
    return lambda positions, speed: (positions % limit)[:, None] * speed


def _looked_up(limit):
    return lambda positions, speed: (np.arange(limit)[:, None] * speed)[positions]


PLACES = {
    "table-too-short": mistake.known(
        *limited("angle", _at_most, _in_a_circle, _looked_up),
        hint="For how many positions does your code have an angle? A text may have more words.",
    ),
    "positions-without-a-sign": mistake.known(
        {"angle": lambda positions, speed: np.abs(positions)[:, None] * speed},
        hint="Position -1 turns the other way than position 1. Does yours?",
    ),
    "whole-positions": mistake.known(
        {"angle": lambda positions, speed: positions.astype(int)[:, None] * speed},
        {"angle": lambda positions, speed: np.round(positions)[:, None] * speed},
        {"angle": lambda positions, speed: np.floor(positions)[:, None] * speed},
        hint="A position may be 0.5. What does your code make of it?",
    ),
    "positions-from-1": mistake.mutant(
        {"angle": lambda positions, speed: (positions[:, None] + 1) * speed},
        hint="By how much is the word at position 0 turned?",
    ),
    "positions-ignored": mistake.known(
        {"angle": lambda positions, speed: np.arange(len(positions))[:, None] * speed},
        hint="A vector's angle comes from its entry in positions. Does yours?",
    ),
    "positions-from-the-first": mistake.mutant(
        {"angle": lambda positions, speed: (positions - positions[0])[:, None] * speed},
        hint="By how much is a word turned that stands alone, at position 5?",
    ),
    "degrees": mistake.mutant(
        {"angle": lambda positions, speed: np.deg2rad(positions[:, None] * speed)}, hint="Does np.cos take degrees?"
    ),
    "divided-by-length": mistake.mutant(
        {"angle": lambda positions, speed: positions[:, None] / len(positions) * speed},
        hint="Does the angle of position 1 depend on how many words there are?",
    ),
    "whole-turns": mistake.mutant(
        {"angle": lambda positions, speed: 2 * np.pi * positions[:, None] * speed},
        hint="By how much does the first pair turn from one word to the next: by 1?",
    ),
}


@mistake.mutants(TURNS | SPEEDS | PAIRS | PLACES)
def rotate(**options):
    return rotation(**options)
