"""Every number in the text of a6, a8 and a9 is one that the code beside it gives."""

from __future__ import annotations

import pytest

from tests.helpers.in_process import COURSE
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
