"""Every number in the text and the captions of a notebook is one that the code beside it gives."""

from __future__ import annotations

import re

import pytest

from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.kernel import run_all
from tests.helpers.notebook_numbers import captions, computed, is_among, names_in, table_of, texts_of, told
from tests.helpers.selection import one_in

A6 = COURSE.assignment("a6_transformer_summarizer")
# What takes long is not run: each is asked for by another test.
LEFT_OUT = {
    **dict.fromkeys([a.name for a in ASSIGNMENTS], frozenset({"how-far-you-are"})),
    "a9_looking_at_heads": frozenset({"your-own-training", "all-silenced", "how-far-you-are"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("assignment", one_in(2, ASSIGNMENTS), ids=lambda assignment: assignment.name)
def test_numbers_in_the_text_are_those_of_the_code(assignment):
    table, texts, wrong = table_of(assignment), texts_of(assignment), []
    names = names_in(assignment, LEFT_OUT[assignment.name], grading=assignment.name[:2] != "a9")
    assert not set(table) - set(texts)
    for name, text in texts.items():
        row = table.get(name, {})
        found, free = computed(row, names), {*row.get("given", ()), *row.get("trained", ())}
        assert free <= set(told(text)), (name, free - set(told(text)))
        wrong += [(name, number) for number in told(text) if number not in free and not is_among(number, found)]
    assert not wrong


def test_a_number_that_the_code_does_not_give_is_noticed():
    assert told("weights of 0.42 in 1,024 words ([Su 2021](https://a.b/2104.1), section 3.2), $4{,}096$ at 12") == [
        "0.42", "1024", "4096", "12",
    ]  # fmt: skip
    assert told(captions("heatmap(x, title=f'window of 40: {y.max():6.2f} at {names[\"b 17\"]}')")) == ["40", "17"]
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
    _, notebook = run_all(A6.notebook, tmp_path)
    said = {
        cell["id"]: "".join(output.get("text", "") for output in cell.get("outputs", ())) for cell in notebook.cells
    }
    assert percents(said["exact"])[0] >= 98  # 99 of 100
    before, after = (percents(line)[0] for line in said["which-names"].splitlines())
    assert before < 0.6 < after < 2  # 1 in 500, 1 in 100
    whole, *without = [percents(line)[2] for line in said["needed"].splitlines()[1:]]  # the column of where
    assert whole > 99
    others = [share for head, share in enumerate(without) if head != 4 + 1]
    assert min(without) == without[4 + 1] < 94 <= min(others)  # head 1 of layer 1: nine of ten; any other 96
    one, two, three = (percents(line)[2] for line in said["several"].splitlines())
    assert one > two > three
    assert 50 < two < 80  # 64
    assert three < 40  # a fifth
    (model, listed), (of_new, none) = [percents(line) for line in said["vowels-read"].splitlines()[:2]]
    assert 64 <= model <= 76 and listed == 81  # 70
    assert 5 <= of_new <= 17 and none == 0  # 11
    told = said["your-own-article"].splitlines()
    assert told[0] == "mira wins the chess cup in oslo"
    assert told[1] in known_mixtures()
