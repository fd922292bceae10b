"""Withdrawn exercises in a `course.toml`. Other lines of the file stay as the author wrote them."""

from __future__ import annotations

import pytest

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
