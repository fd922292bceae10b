"""Every number in the text of a6, a8 and a9 is one that the code beside it gives."""

from __future__ import annotations

import re

import pytest

from tests.helpers.in_process import COURSE
from tests.helpers.kernel import run_all
from tests.helpers.notebook_numbers import cells_of, is_among, names_in, table_of, told, values

# What is trained anew is asked for by other tests.
TRAINED = frozenset({"your-own-training", "all-silenced"})
ASKED = [COURSE.assignment(name) for name in ("a6_transformer_summarizer", "a8_modern_attention")]
A9 = COURSE.assignment("a9_looking_at_heads")
EVERY = [*((a, frozenset(), True) for a in ASKED), (A9, TRAINED, False)]


@pytest.mark.parametrize(("assignment", "left_out", "grading"), EVERY, ids=[a.name for a, *_ in EVERY])
def test_numbers_in_the_text_are_those_of_the_code(assignment, left_out, grading):
    table, names, wrong = table_of(assignment), names_in(assignment, left_out, grading), []
    texts = {name: cell.source for name, cell in cells_of(assignment).items() if cell.cell_type == "markdown"}
    assert not set(table) - set(texts)
    for name, text in texts.items():
        row = table.get(name, {})
        computed = [value for one in row.get("computed", ()) for value in values(one, names)]
        free = {*row.get("given", ()), *row.get("trained", ())}
        assert free <= set(told(text)), (name, free - set(told(text)))
        wrong += [(name, number) for number in told(text) if number not in free and not is_among(number, computed)]
    assert not wrong


def test_a_number_that_the_code_does_not_give_is_noticed():
    assert told("weights of 0.42 in 1,024 words ([Su 2021](https://a.b/2104.1), section 3.2), $4{,}096$ at 12") == [
        "0.42", "1024", "4096",
    ]  # fmt: skip
    assert is_among("0.42", [1.0, 0.4188])
    assert not is_among("0.42", [0.4301])
    assert not is_among("131040", [131041.0])


def known_mixtures():
    """Summaries that mix two pieces of news: each word is in the article, and nobody said it."""
    deeds = ("wins the chess cup", "finds a lost dog")
    every = {(who, deed, where) for who in ("mira", "hugo") for deed in deeds for where in ("oslo", "lima")}
    told = {("mira", deeds[0], "oslo"), ("hugo", deeds[1], "lima")}
    return {f"{who} {deed} in {where}" for who, deed, where in every - told}


def percents(line):
    """The shares in a line of text, in percent."""
    return [float(share) for share in re.findall(r"([\d.]+)%", line)]


@pytest.mark.slow
@pytest.mark.catalogue
def test_what_a6_says_of_the_model_that_was_trained_here(tmp_path):
    """Training differs a little from machine to machine, so what the text says in words has room."""
    _, notebook = run_all(ASKED[0].notebook, tmp_path)
    said = {
        cell["id"]: "".join(output.get("text", "") for output in cell.get("outputs", ())) for cell in notebook.cells
    }
    assert percents(said["exact"])[0] >= 98  # 99 of 100
    before, after = (percents(line)[0] for line in said["which-names"].splitlines())
    assert before < 0.6 < after < 2  # 1 in 500, 1 in 100
    whole, *without = [percents(line)[2] for line in said["needed"].splitlines()[1:]]  # the column of where
    assert whole > 99
    assert min(without) == without[4 + 1] < 94  # head 1 of layer 1: nine of ten
    one, two, three = (percents(line)[2] for line in said["several"].splitlines())
    assert one > two > three
    assert three < 40  # a fifth
    told = said["your-own-article"].splitlines()
    assert told[0] == "mira wins the chess cup in oslo"
    assert told[1] in known_mixtures()
