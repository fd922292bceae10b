"""Withdrawn exercises in a course's `withdrawn.toml`."""

from __future__ import annotations

from autograder.course.withdrawals import FILE, text_of, withdrawn_in

WITHDRAWN = {"b1": {"mean": "full points", "größe": "out of total"}, "b 2": {}, "b3.x": {"sum": "full points"}}


def test_file_holds_what_was_written(tmp_path):
    assert withdrawn_in(tmp_path) == {}
    for withdrawn in (WITHDRAWN, {}):
        (tmp_path / FILE).write_text(text_of(withdrawn), encoding="utf-8")
        assert withdrawn_in(tmp_path) == withdrawn
