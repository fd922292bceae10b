"""The cost of a decoding step in the notebook of a8: counted multiplications match the formula and the text."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest

from attention_course.helpers.counting import cost_of
from tests.helpers.in_process import COURSE

A8 = COURSE.assignment("a8_modern_attention")
D_MODEL, KV_WIDTH, LAYERS = 64, 16, 4  # 16 heads of queries of width 4, and four of keys
OF_WEIGHTS = 2 * D_MODEL * D_MODEL + 2 * D_MODEL * KV_WIDTH  # x W_Q and W_O, x W_K and x W_V, for one word
OF_A_KEY = 2 * D_MODEL  # its scores and its share of the weighted sum, in all heads


@pytest.fixture(scope="module")
def names():
    """The names that the notebook defines up to its demonstration of the cache, and the printed lines."""
    cells = {cell["id"]: cell["source"] for cell in nbformat.read(A8.notebook, as_version=4).cells}
    printed: list[str] = []
    known = vars(A8.reference()) | {"grading": False, "print": lambda *words: printed.append(" ".join(map(str, words)))}
    for cell in ("decoding-step-code", "decoding-step-timed-code"):
        exec(cells[cell], known)
    return known | {"printed": printed}


@pytest.mark.slow
def test_decoding_step_costs_match_the_formula(names):
    for words in (1, 2, 9):
        text = np.ones((words, D_MODEL))
        with_cache = LAYERS * sum(OF_WEIGHTS + OF_A_KEY * (before + 1) for before in range(words))
        assert cost_of(names["with_cache"], text)[0] == pytest.approx(with_cache / 1e6, rel=1e-12)
        without_cache = LAYERS * sum(so_far * (OF_WEIGHTS + OF_A_KEY * so_far) for so_far in range(1, words + 1))
        assert cost_of(names["without_cache"], text)[0] == pytest.approx(without_cache / 1e6, rel=1e-12)


@pytest.mark.slow
def test_notebook_prints_the_counted_costs(names):
    said = "\n".join(names["printed"])
    shown = re.findall(r"^ +(\d+) +([\d.]+) +([\d.]+) ", said, re.MULTILINE)
    assert shown == [("30", "1.5", "23.9"), ("60", "3.4", "112.7"), ("120", "8.6", "596.0")], said
