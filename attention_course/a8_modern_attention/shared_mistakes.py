"""What the known mistakes of a8 share: wrong ways to rotate, to share heads, and to compute a softmax in blocks."""

import math

import numpy as np

from ..hidden import mutation_options, softmax_options

NUMPY = softmax_options.numpy_functions()


def right_speeds(x, base):
    d = x.shape[-1]
    return base ** (-np.arange(0, d, 2) / d)


def side_by_side(x):
    return x[..., 0::2], x[..., 1::2]


def woven(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], 2 * first.shape[-1])


def right_turn(first, second, cos, sin):
    return first * cos - second * sin, first * sin + second * cos


def rotation(
    pairs=side_by_side,
    joined=woven,
    turn=right_turn,
    speeds=right_speeds,
    angle=lambda positions, speed: positions[:, None] * speed,
    chosen=lambda base: base,
):
    """`rotate`. Each decision is an option."""

    def rotate(x, positions, base=10000.0):
        angles = angle(positions, speeds(x, chosen(base)))
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        return joined(*turn(*pairs(x), cos, sin))

    return rotate


def neighbours(x, h):
    return np.repeat(x, h // x.shape[-3], axis=-3)


def in_turn(x, h):
    return np.concatenate([x] * (h // x.shape[-3]), axis=-3)


def grouped(Q, K, V, num_kv_heads, mask=None, /, *, keys=neighbours, values=neighbours, error=ValueError, **options):
    """Right grouped-query attention. Each decision is an option."""
    h = Q.shape[-3]
    if error and h % num_kv_heads:
        raise error("no groups of one size")
    more = {"num_heads": h, "num_kv_heads": num_kv_heads}
    return mutation_options.attend(NUMPY, Q, keys(K, h), values(V, h), mask, more=more, **options)


WHOLE = {
    "scale-by-whole-width": [{"scale": lambda size: math.sqrt(size.d_k * size.num_heads)}],
    "scale-by-length": [
        {"scale": scale}
        for scale in (lambda size: math.sqrt(size.S), lambda size: math.sqrt(size.L), lambda size: size.S)
    ],
    "scale-by-num_heads": [
        {"scale": lambda size: math.sqrt(size.num_heads)},
        {"scale": lambda size: math.sqrt(size.num_kv_heads)},
    ],
}


# Fixed sizes of tables and caches. The first is used by a known mistake, all are used by mutants.
LIMITS = 64, 32, 48, 16, 40, 50, 60, 20, 10, 12, 8, 4, 3


def limited(option, *ways, limits=LIMITS):
    """For each limit and each of the `ways`: a set of options in which `option` is `way(limit)`."""
    return [{option: way(limit)} for limit in limits for way in ways]


def in_half(code):
    """Options for half precision: the input of NumPy code is rounded, or its output, or both."""

    def rounded(value):
        is_floating = getattr(value, "dtype", np.dtype(int)).kind == "f"
        return value.astype(np.float16).astype(value.dtype) if is_floating else value

    def before(*args, **named):
        return code(*map(rounded, args), **{name: rounded(value) for name, value in named.items()})

    def after(work):
        def rounding(*args, **named):
            found = work(*args, **named)
            return tuple(map(rounded, found)) if isinstance(found, tuple) else rounded(found)

        return rounding

    return [{"code": way} for way in (before, after(code), after(before))]


HALF = "Print the dtype after each line, and the digits that are left. Where do so many of them go?"


def at_the_end(old, new):
    return np.concatenate([old, new], axis=-2)


def online(
    scale=math.sqrt,
    new=np.maximum,
    shrink_total=lambda old, new: np.exp(old - new),
    shrink_mixed=lambda old, new: np.exp(old - new),
    exps=lambda scores, largest: np.exp(scores - largest[..., None]),
    summed=lambda exps: exps.sum(axis=-1),
    block=lambda exps, V: exps @ V,
    end=lambda largest, total, mixed: (largest, total, mixed),
    before=lambda total, mixed: mixed,
    given_back=lambda old, new: new,
    measured_from=lambda old, new: new,
):
    """`online_softmax_step`. Each decision is an option."""

    def online_softmax_step(largest, total, mixed, Q, K, V):
        scores = Q @ K.swapaxes(-2, -1) / scale(Q.shape[-1])
        found = new(largest, scores.max(axis=-1))
        powers = exps(scores, measured_from(largest, found))
        mixed = np.asarray(shrink_mixed(largest, found))[..., None] * before(total, mixed) + block(powers, V)
        total = shrink_total(largest, found) * total + summed(powers)
        return end(given_back(largest, found), total, mixed)

    return online_softmax_step


def ones(old, new):
    return np.ones_like(new)


def zeros(old, new):
    return np.zeros_like(new)
