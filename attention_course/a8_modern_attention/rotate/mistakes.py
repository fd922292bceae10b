"""Known mistakes of rotate."""

import numpy as np

from autograder.suites import Catalogue

from ..shared_mistakes import right_speeds, right_turn, rotation, side_by_side, woven

mistake = Catalogue()


def _in_halves(x):
    return np.split(x, 2, axis=-1)


def _behind(first, second):
    return np.concatenate([first, second], axis=-1)


# Written out, since tests hand it in.
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
    """`rotate` with pairs side by side and the angles of halves, or the other way round."""

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


@mistake.recipe(
    {
        "angles-of-other-pairs": [{"code": _angles_of_other_pairs(True)}, {"code": _angles_of_other_pairs(False)}],
        "added-not-turned": [{"code": _added}],
        "half-of-the-width-turned": [{"code": _half_turned}],
    },
    hints={
        "angles-of-other-pairs": "Do the two numbers of a pair turn by one angle, or by two?",
        "half-of-the-width-turned": "How many pairs has a vector of width 8, and how many of them does yours turn?",
    },
)
def rotate(code):
    return code


TURNS = {
    "turned-backwards": [{"turn": lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)}],
    "mirrored": [
        {"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)},
        {"turn": lambda a, b, cos, sin: (b * sin - a * cos, a * sin + b * cos)},
    ],
    "no-minus": [{"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)}],
    "two-minuses": [{"turn": lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)}],
    "sine-and-cosine-swapped": [{"turn": lambda a, b, cos, sin: right_turn(a, b, sin, cos)}],
    "first-of-a-pair-unturned": [{"turn": lambda a, b, cos, sin: (a, a * sin + b * cos)}],
    "second-of-a-pair-unturned": [{"turn": lambda a, b, cos, sin: (a * cos - b * sin, b)}],
    "pair-swapped": [{"turn": lambda a, b, cos, sin: right_turn(a, b, cos, sin)[::-1]}],
}
SPEEDS = {
    "one-speed-for-all": [{"speeds": lambda x, base: np.ones(x.shape[-1] // 2)}],
    "exponent-without-the-2": [{"speeds": lambda x, base: base ** (-np.arange(x.shape[-1] // 2) / x.shape[-1])}],
    "exponent-doubled": [{"speeds": lambda x, base: base ** (-2 * np.arange(0, x.shape[-1], 2) / x.shape[-1])}],
    "exponent-up-to-1": [{"speeds": lambda x, base: base ** -np.linspace(0, 1, x.shape[-1] // 2)}],
    "exponent-of-the-wrong-sign": [{"speeds": lambda x, base: 1 / right_speeds(x, base)}],
    "slowest-pair-first": [{"speeds": lambda x, base: right_speeds(x, base)[::-1]}],
    "speeds-from-the-second": [{"speeds": lambda x, base: base ** (-(np.arange(0, x.shape[-1], 2) + 2) / x.shape[-1])}],
    "base-ignored": [{"chosen": lambda base: 10000.0}],
}
PAIRS = {
    "pairs-in-halves": [{"pairs": _in_halves, "joined": _behind}],
    "put-together-in-halves": [{"joined": _behind}],
    "taken-apart-in-halves": [{"pairs": _in_halves}],
}
PLACES = {
    "positions-from-1": [{"angle": lambda positions, speed: (positions[:, None] + 1) * speed}],
    "positions-ignored": [{"angle": lambda positions, speed: np.arange(len(positions))[:, None] * speed}],
    "positions-from-the-first": [{"angle": lambda positions, speed: (positions - positions[0])[:, None] * speed}],
    "degrees": [{"angle": lambda positions, speed: np.deg2rad(positions[:, None] * speed)}],
    "divided-by-length": [{"angle": lambda positions, speed: positions[:, None] / len(positions) * speed}],
    "whole-turns": [{"angle": lambda positions, speed: 2 * np.pi * positions[:, None] * speed}],
}
ROTARY = {
    "two-minuses": "Of the four entries of the matrix, which one has a minus?",
    "first-of-a-pair-unturned": "How many numbers of a pair change when it is turned?",
    "pair-swapped": "At position 0 nothing is turned. What does yours make of (1, 0) there?",
    "exponent-doubled": "Which number is i for columns 2 and 3: is it 2, or the number of the pair?",
    "exponent-up-to-1": "The exponent is 2i / d. Does the last pair reach 1?",
    "speeds-from-the-second": "How fast is the first pair: what is base to the power of 0?",
    "taken-apart-in-halves": "Which column is turned together with column 0: its neighbour, or one far away?",
    "positions-from-1": "By how much is the word at position 0 turned?",
    "positions-from-the-first": "By how much is a word turned that stands alone, at position 5?",
    "degrees": "Does np.cos take degrees?",
    "divided-by-length": "Does the angle of position 1 depend on how many words there are?",
    "whole-turns": "By how much does the first pair turn from one word to the next: by 1?",
    "put-together-in-halves": "The pairs are turned. In which columns should the two numbers of a pair stand?",
    "turned-backwards": "Where does (1, 0) go at position 1: to (cos, sin), or to (cos, -sin)?",
    "mirrored": "Of the four entries of the matrix, which one has a minus? What does (0, 1) become at 0?",
    "no-minus": "Of the four entries of the matrix, which one has a minus? Does a vector keep its length?",
    "sine-and-cosine-swapped": "At position 0 nothing is turned. What does yours make of (1, 0) there?",
    "second-of-a-pair-unturned": "How many numbers of a pair change when it is turned?",
    "one-speed-for-all": "How fast does the second pair turn: like the first?",
    "exponent-without-the-2": "The second pair of d = 4: what is 2i / d there, and what is yours?",
    "exponent-of-the-wrong-sign": "Does the second pair turn faster than the first, or slower?",
    "slowest-pair-first": "Which pair turns by the position itself: the first or the last?",
    "positions-ignored": "A vector's angle comes from its entry in positions. Does yours?",
    "base-ignored": "A caller may give another base. Does yours listen?",
}


@mistake.recipe(
    TURNS | SPEEDS | PAIRS | PLACES, hints=ROTARY,
    held=(
        "put-together-in-halves", "turned-backwards", "mirrored", "no-minus", "sine-and-cosine-swapped",
        "second-of-a-pair-unturned", "one-speed-for-all", "exponent-without-the-2", "exponent-of-the-wrong-sign",
        "slowest-pair-first", "positions-ignored", "base-ignored",
    ),
)  # fmt: skip
def rotate(**options):
    return rotation(**options)
