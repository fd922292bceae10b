"""Withdrawn exercises in a `course.toml`. Other lines of the file stay as the author wrote them."""

from __future__ import annotations

import json

import pytest

from autograder.course.source_notebook import settings_in
from autograder.course.withdrawals import edited, withdrawn_in
from autograder.errors import CourseError

BEFORE = '# Ours.\nearly = ["numpy.ma"]  # slow\n\n[names]\nnp = "numpy"\n'
OTHERS = '\n[withdrawn]\nb2.sum = "full points"\n'
WITHDRAWN = {"mean": "full points", "größe": "out of total"}
TEXTS = {
    "plain": BEFORE,
    "no line end": BEFORE.rstrip("\n"),
    "Windows": BEFORE.replace("\n", "\r\n"),
    "empty": "",
    "others at its end": BEFORE + OTHERS,
    "others at its beginning": OTHERS + "# Names.\n[names]\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_withdrawing_and_restoring_keeps_other_lines(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_bytes(text.encode())
    others = withdrawn_in(path)
    for withdrawn in (WITHDRAWN, {}):
        for name in ("b1", "b3"):
            _, changed = edited(path, name, withdrawn)
            path.write_bytes(changed.encode())
            assert withdrawn_in(path).get(name, {}) == withdrawn
    assert withdrawn_in(path) == others
    assert sorted(filter(None, changed.splitlines())) == sorted(filter(None, text.splitlines()))


@pytest.mark.parametrize(
    "text",
    [
        'withdrawn = {b2 = {sum = "full points"}}\n',
        '[withdrawn.b2]\nsum = "full points"\n',
        '[withdrawn]\n# since\nb2.sum = "full points"\n',
    ],
)
def test_other_spellings_of_the_table_are_refused(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_text(text)
    with pytest.raises(CourseError, match=r"course\.toml: \[withdrawn\] cannot be written there"):
        edited(path, "b1", WITHDRAWN)


def test_old_metadata_is_reported_with_the_lines_to_write(tmp_path):
    (tmp_path / "b1").mkdir()
    path = tmp_path / "b1" / "b.ipynb"
    cells = [
        {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": name, "points": points}}}
        for name, points in {"test-mean": 2, "test-größe": 0}.items()
    ]
    metadata = {"autograder": {"withdrawn": {"mean": 2, "größe": 3}}}
    path.write_text(json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells}))
    with pytest.raises(CourseError, match="set the points of 'test-größe' back to 3 and write") as error:
        settings_in(path)
    (tmp_path / "course.toml").write_text(str(error.value).partition("\n")[2])
    assert withdrawn_in(tmp_path / "course.toml") == {"b1": WITHDRAWN}
