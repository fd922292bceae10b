"""How the items of a wrong answer differ from those of the right one, along one of its axes."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis.differences import ENOUGH, MOST_ITEMS, NOT_ALONE, of_each_part, places_of_items

MOST_SHOWN = 4


@of_each_part
def all_zero(a: np.ndarray, b: np.ndarray) -> str:
    """All numbers are 0."""
    if a.shape != b.shape or a.dtype.kind != "f" or a.any():
        return ""
    tells = b.size >= ENOUGH and (b != 0).mean() > 0.5
    return "All of your numbers are 0, and most of the right ones are not." if tells else NOT_ALONE


@of_each_part
def emptied(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items are 0, and the others are right."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    wrong = ~np.isclose(a, b, rtol=1e-4, atol=1e-6)
    if a[wrong].any():
        return ""
    for axis in range(a.ndim if b.size >= ENOUGH * a.ndim else 0):
        one_item = np.moveaxis(wrong | (b == 0), axis, 0).reshape(a.shape[axis], -1).all(axis=1)
        if not one_item.all() and not np.moveaxis(wrong, axis, 0)[~one_item].any():
            return f"Along axis {axis}, what belongs at {_listed([*np.flatnonzero(one_item)])} is 0; all else is right."
    return NOT_ALONE


@of_each_part
def repeated(a: np.ndarray, b: np.ndarray) -> str:
    """Along one axis some items are in the place of others."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return ""
    for axis, length in enumerate(a.shape):
        if not 2 <= length <= MOST_ITEMS or b.size < ENOUGH * length:
            continue
        places = places_of_items(np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0))
        missing = sorted(set(range(length)) - set(places))
        if places and missing:
            return f"Along axis {axis}, what belongs at {_listed(missing)} is nowhere; others stand there once more."
    return ""


def _listed(places: list[int]) -> str:
    shown = ", ".join(map(str, places[:MOST_SHOWN]))
    return f"{shown} and so on" if len(places) > MOST_SHOWN else shown
