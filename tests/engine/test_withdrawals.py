"""Withdrawn exercises in a course's `withdrawn.toml`."""

from __future__ import annotations

from autograder.course.assignments import WITHDRAWN, Course, withdrawn_as_text

EXERCISES = {"b1": {"mean": "full points", "größe": "out of total"}, "b 2": {}, "b3.x": {"sum": "full points"}}


def test_file_holds_what_was_written(tmp_path):
    assert Course(tmp_path).withdrawn == {}
    for withdrawn in (EXERCISES, {}):
        (tmp_path / WITHDRAWN).write_text(withdrawn_as_text(withdrawn), encoding="utf-8")
        assert Course(tmp_path).withdrawn == withdrawn
